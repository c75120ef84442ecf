"""What goes wrong, as exceptions. Their texts are those of the compiler and of the runtime."""


class HybridError(Exception):
    """Anything that Hybrid refuses."""


class CompileError(HybridError):
    """The model's text is at fault; the message is the compiler's, with lines and columns."""


class RunError(HybridError):
    """A model could not be loaded or run."""


class ArrayError(HybridError, ValueError):
    """An array has another shape, dtype, layout or device than is asked for."""
