"""Random keys as data: how they are pickled."""


def reduced(keys):
    """What pickle stores of a key array: how it is rebuilt, from its words and the name of its generator."""
    from pullback import random

    return rebuilt, (random.key_data(keys), str(random.key_impl(keys)))


def rebuilt(words, impl):
    """The key array of stored words."""
    from pullback import random

    return random.wrap_key_data(words, impl=impl)
