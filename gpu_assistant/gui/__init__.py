"""The window. Importing this package loads no Qt; its modules do."""

from .no_opengl import install_placeholders

install_placeholders()
