"""From attributions to a file: a matrix, shaded words or an interactive page, by the file's suffix."""

from ..errors import ConfigError
from .heatmap import SUFFIXES, caption, check_suffix, draw_matrices, draw_words, save_figure
from .page import save_page

PAGE = ".html"
PICTURES = ("matrix", "words")


def check_picture(path, picture=None, methods=("attention",)):
    """Answer path as a Path; refuse, before any work, a file that could not be drawn.

    Raises
    ------
    ConfigError
        The suffix is unknown; a page is asked for as a picture; a matrix is wanted of a method that has none.
    """
    path = check_suffix(path, (*SUFFIXES, PAGE))
    if picture and path.suffix.lower() == PAGE:
        raise ConfigError(f"{path}: a page has words and matrices; leave --picture {picture} out")
    others = dict.fromkeys(method for method in methods if method != "attention")
    if picture == "matrix" and others:
        raise ConfigError(
            f"--picture matrix: only attention has one, found {', '.join(others)}; use --picture words, "
            "or --method attention alone"
        )
    return path


def save_attributions(reviews, path, picture=None):
    """Draw reviews into a .png, .svg, .pdf or .html file, whole or not at all.

    Parameters
    ----------
    reviews : list of lists of attribution.Attribution
        Those of one list belong to one review: by several methods or models.
    path : path
    picture : "matrix", "words" or None
        None is the matrix of one review's attention and words of anything else.
    """
    panels = [each for beside in reviews for each in beside]
    path = check_picture(path, picture, [each.method for each in panels])
    if path.suffix.lower() == PAGE:
        save_page(reviews, path)
        return
    matrices = [each for each in panels if each.matrix is not None]
    if picture == "matrix" or picture is None and len(panels) == len(matrices) == 1:
        save_figure(draw_matrices([(each.matrix, each.tokens, caption(each)) for each in matrices]), path)
    else:
        save_figure(draw_words(panels), path)
