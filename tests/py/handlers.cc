// Handlers with XLA's C interface, for test_ffi.py: arithmetic, attributes, an alias and an error.
#include <cstdint>
#include <string>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error Scale(ffi::Buffer<ffi::F32> x, float factor, int64_t shift, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = factor * x.typed_data()[i] + shift;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(ScaleHandler, Scale,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Attr<float>("factor").Attr<int64_t>("shift").Ret<ffi::Buffer<ffi::F32>>());

static ffi::Error Two(ffi::Buffer<ffi::S32> x, ffi::ResultBuffer<ffi::S32> sum, ffi::ResultBuffer<ffi::S32> last) {
  int32_t total = 0;
  for (size_t i = 0; i < x.element_count(); ++i) total += x.typed_data()[i];
  sum->typed_data()[0] = total;
  last->typed_data()[0] = x.typed_data()[x.element_count() - 1];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(TwoHandler, Two,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::S32>>().Ret<ffi::Buffer<ffi::S32>>().Ret<ffi::Buffer<ffi::S32>>());

static ffi::Error Fail(ffi::Buffer<ffi::F32> x, std::string_view text, ffi::Span<const int32_t> numbers, ffi::ResultBuffer<ffi::F32> y) {
  return ffi::Error::InvalidArgument(std::string(text) + " " + std::to_string(numbers[1]));
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(FailHandler, Fail,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Attr<std::string_view>("text").Attr<ffi::Span<const int32_t>>("numbers").Ret<ffi::Buffer<ffi::F32>>());

static ffi::Error Bump(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  y->typed_data()[0] += 1;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(BumpHandler, Bump, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
