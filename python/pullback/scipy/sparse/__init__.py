"""Systems of equations that are known by what they do to vectors."""

from pullback.scipy.sparse import linalg as linalg
