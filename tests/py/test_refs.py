"""Mutable references beside live JAX: as arguments, closed over, in loops, branches, derivatives and batches, and their errors."""

import importlib

import numpy as np
import pytest

import pullback

jax_reference = pytest.importorskip("jax")


def jitarg(jax, jnp, lax):
    r=jax.new_ref(jnp.arange(3.))
    f=jax.jit(lambda r,x: (r.__setitem__(0,x), r[1])[1])
    y=f(r,5.)
    f(r,7.)
    return y,r[...]


def jitclosed(jax, jnp, lax):
    r=jax.new_ref(0.)
    @jax.jit
    def f(x):
        r[...]+=x
        return r[...]*2
    return f(1.),f(2.),r[...]


def scanclosed(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros(3))
    def b(c,x):
        r[x]=c*1.
        return c+1,r[0]
    out=lax.scan(b,1.,jnp.arange(3))
    return out,r[...]


def whileclosed(jax, jnp, lax):
    r=jax.new_ref(0.)
    out=lax.while_loop(lambda c:c<3,lambda c:(r.__setitem__(...,r[...]+c),c+1)[1],0.)
    return out,r[...]


def fori(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros(4))
    lax.fori_loop(0,4,lambda i,c:(r.__setitem__(i,i*2.),c)[1],None)
    return r[...]


def cond(jax, jnp, lax):
    r=jax.new_ref(1.)
    def t(x):
        r[...]=x
        return x
    o=lax.cond(True,t,lambda x:x*2,3.)
    return o,r[...]


def condarg(jax, jnp, lax):
    r=jax.new_ref(1.)
    def t(r):
        r[...]=5.
    lax.cond(True,t,lambda r:None,r)
    return r[...]


def gradclosed(jax, jnp, lax):
    r=jax.new_ref(0.)
    def f(x):
        r[...]=jnp.sin(x)*2
        return x*x
    return jax.grad(f)(3.),r[...]


def gradread(jax, jnp, lax):
    r=jax.new_ref(2.)
    return jax.grad(lambda x: x*x*r[...])(3.)


def gradarg(jax, jnp, lax):
    r=jax.new_ref(2.)
    def f(x,r):
        r[...]=x+1
        return x*r[...]
    return jax.grad(f)(3.,r), r[...]


def gradinside(jax, jnp, lax):
    def f(x):
        r=jax.new_ref(x)
        r[...]=r[...]*x
        return r[...]
    return jax.grad(f)(3.),jax.jit(jax.grad(f))(3.)


def vmapclosed(jax, jnp, lax):
    r=jax.new_ref(2.)
    return jax.vmap(lambda x: x*r[...])(jnp.arange(3.))


def vmapwrite(jax, jnp, lax):
    r=jax.new_ref(2.)
    jax.vmap(lambda x: r.__setitem__(...,x))(jnp.arange(3.))
    return r[...]


def vmaparg(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros(3))
    def f(r,x):
        r[...]=x*2
        return r[...]
    return jax.vmap(f)(r,jnp.arange(3.)), r[...]


def nested(jax, jnp, lax):
    r=jax.new_ref(0.)
    @jax.jit
    def f(x):
        @jax.jit
        def g(y):
            r[...]+=y
            return y
        g(x)
        g(x)
        return r[...]
    return f(2.),f(2.),r[...]


def jitscan(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros(()))
    @jax.jit
    def f(xs):
        def b(c,x):
            r[...]+=x
            return c,None
        lax.scan(b,0,xs)
        return r[...]
    return f(jnp.arange(4.)),f(jnp.arange(4.)),r[...]


def alias(jax, jnp, lax):
    r=jax.new_ref(0.)
    return jax.jit(lambda a,b: a[...]+b[...])(r,r)


def ret(jax, jnp, lax):
    r=jax.new_ref(0.)
    return jax.jit(lambda a: a)(r)


def ret2(jax, jnp, lax):
    return jax.jit(lambda x: jax.new_ref(x))(1.)


def aliasc(jax, jnp, lax):
    r=jax.new_ref(0.)
    return jax.jit(lambda a: a[...]+r[...])(r)


def freeze(jax, jnp, lax):
    r=jax.new_ref(jnp.arange(3))
    r[0]=9
    v=jax.freeze(r)
    return v


def tree(jax, jnp, lax):
    r={'a':jax.new_ref(0.),'b':jax.new_ref(1.)}
    @jax.jit
    def f(d):
        d['a'][...]=d['b'][...]+1
        return d['a'][...]
    return f(r), r['a'][...]


def checkpoint(jax, jnp, lax):
    r=jax.new_ref(2.)
    return jax.grad(jax.checkpoint(lambda x: jnp.sin(x)*r[...]))(1.)


def vjp(jax, jnp, lax):
    r=jax.new_ref(2.)
    y,p=jax.vjp(lambda x: x*x*r[...],3.)
    return y,p(1.)


def jvp(jax, jnp, lax):
    r=jax.new_ref(2.)
    return jax.jvp(lambda x: x*x*r[...],(3.,),(1.,))


def vag(jax, jnp, lax):
    r=jax.new_ref(2.)
    return jax.value_and_grad(lambda x: (x*x*r[...],x),has_aux=True)(3.)


def at(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros(5))
    r[1:3]=2.
    r[jnp.array([0,4])]=1.
    jax.ref.addupdate(r,0,5.)
    return r[...], r[::2], jax.ref.swap(r,1,9.), r.shape, len(r)


def static(jax, jnp, lax):
    r=jax.new_ref(0.)
    f=jax.jit(lambda n,r: r.__setitem__(...,n*1.),static_argnums=0)
    f(3,r)
    return r[...]


def typ(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros((2,3)))
    return r.shape,str(r.dtype),r.ndim,isinstance(r,jax.Ref), r.size


def map(jax, jnp, lax):
    r=jax.new_ref(0.)
    o=lax.map(lambda x: (r.__setitem__(...,r[...]+x),x)[1], jnp.arange(3.))
    return o,r[...]


def switch(jax, jnp, lax):
    r=jax.new_ref(0.)
    lax.switch(1,[lambda: None,lambda: r.__setitem__(...,4.)])
    return r[...]


def bad(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros(3))
    r[...]=jnp.zeros(4)


def iadd(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros(3))
    r[0]+=2
    r[...]*=3
    return r[...]


def dtype(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros(3))
    r[0]=1
    return str(r[...].dtype)


def intodtype(jax, jnp, lax):
    r=jax.new_ref(jnp.zeros(3,int))
    r[0]=1.5
    return r[...]


def jitvmap(jax, jnp, lax):
    r=jax.new_ref(1.)
    @jax.jit
    def f(x):
        return jax.vmap(lambda y: y+r[...])(x)
    a=f(jnp.arange(2.))
    r[...]=10.
    return a,f(jnp.arange(2.))


def jit_in_fn(jax, jnp, lax):
    @jax.jit
    def f(x):
        r=jax.new_ref(x)
        def b(i,c):
            r[...]=r[...]*2
            return c
        lax.fori_loop(0,3,b,0)
        return r[...]
    return f(1.), jax.vmap(f)(jnp.arange(3.)), jax.grad(f)(1.)


PROGRAMS = {
    "jitarg": jitarg,
    "jitclosed": jitclosed,
    "scanclosed": scanclosed,
    "whileclosed": whileclosed,
    "fori": fori,
    "cond": cond,
    "condarg": condarg,
    "gradclosed": gradclosed,
    "gradread": gradread,
    "gradarg": gradarg,
    "gradinside": gradinside,
    "vmapclosed": vmapclosed,
    "vmapwrite": vmapwrite,
    "vmaparg": vmaparg,
    "nested": nested,
    "jitscan": jitscan,
    "alias": alias,
    "ret": ret,
    "ret2": ret2,
    "aliasc": aliasc,
    "freeze": freeze,
    "tree": tree,
    "checkpoint": checkpoint,
    "vjp": vjp,
    "jvp": jvp,
    "vag": vag,
    "at": at,
    "static": static,
    "typ": typ,
    "map": map,
    "switch": switch,
    "bad": bad,
    "iadd": iadd,
    "dtype": dtype,
    "intodtype": intodtype,
    "jitvmap": jitvmap,
    "jit_in_fn": jit_in_fn,
}


def outcome(system, program):
    """What a program gives, or the class of its error."""
    try:
        result = program(system, system.numpy, importlib.import_module(f"{system.__name__}.lax"))
        return system.tree.map(lambda x: np.asarray(x).tolist(), result)
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_do_what_they_do_in_jax(name):
    wanted, found = outcome(jax_reference, PROGRAMS[name]), outcome(pullback, PROGRAMS[name])
    if isinstance(wanted, str) or isinstance(found, str):
        assert found == wanted
        return
    assert pullback.tree.structure(found) == pullback.tree.structure(wanted)
    for x, y in zip(pullback.tree.leaves(found), pullback.tree.leaves(wanted)):
        assert x == y or np.allclose(x, y, rtol=1e-6)
