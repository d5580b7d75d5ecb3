"""The window. Importing this package loads no Qt; its modules do."""

from .no_opengl import stand_in

stand_in()
