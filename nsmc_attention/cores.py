"""How many cores there are to use."""
import os


def cores():
    """Answer how many cores this process may use, which in a container is often fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
