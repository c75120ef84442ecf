"""Hybrid: sequence models compiled from a page of text, run and differentiated from Python.

    import hybrid
    model = hybrid.compile("model.hyb", batch=4, length=64, width=32)
    outputs = model.forward({"tokens": tokens})

hybrid.torch has models and layers as torch.nn.Module; importing this package needs neither torch nor numpy."""

from ._files import models_folder
from .arrays import Array, Spec
from .decoding import Decoder
from .errors import ArrayError, CompileError, HybridError, RunError
from .executable import Executable, ParameterSpec
from .layers import Layer, layer_model
from .model import Gradients, Model, compile, load  # noqa: A004
from .records import Run, Study, columns, read_run, read_study
from .training import Training

__version__ = "0.1.0"
__all__ = ["Array", "ArrayError", "CompileError", "Decoder", "Executable", "Gradients", "HybridError", "Layer", "Model", "ParameterSpec", "Run",
           "RunError", "Spec", "Study", "Training", "__version__", "columns", "compile", "layer_model", "load", "models_folder", "read_run", "read_study"]
