"""Times on a device: of steps in a row, and of a step captured as a CUDA graph."""

import itertools
import time

import torch


clock = time.perf_counter


def add_option(parser):
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--cpu-time", action="store_true", help="time of the process, not of the clock")


def use(options):
    """Makes the device the default. Products in f32 stay in f32, as ours do."""
    global clock
    clock = time.process_time if options.cpu_time else time.perf_counter
    torch.set_num_threads(options.threads)
    torch.set_default_device(options.device)


def times(step, count):
    """Milliseconds of each of `count` steps. On a GPU from event to event with the queue kept full: what a training loop sees
    that does not wait for its losses."""
    if torch.get_default_device().type == "cpu":
        marks = [clock()]
        for _ in range(count):
            step()
            marks.append(clock())
        return [1000 * (b - a) for a, b in itertools.pairwise(marks)]
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    torch.cuda.synchronize()
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) for a, b in itertools.pairwise(events)]


def captured(step, warm_up=3):
    """The step as a graph: what it does on the GPU, launched at once."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(warm_up):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def peak_bytes(otherwise):
    return torch.cuda.max_memory_allocated() if torch.get_default_device().type == "cuda" else otherwise
