import shutil

import pytest

from nsmc_attention.bundle.format import load_bundle, read_contents, write_bundle
from nsmc_attention.classification.layout import LAYOUT
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.errors import BundleError
from nsmc_attention.inference.parallel import row_stream


def test_where_one_bundle_began_no_other_goes_on(bundle_folder, tmp_path):
    """Workers load the bundle by its folder, where another may stand by then."""
    folder = shutil.copytree(bundle_folder, tmp_path / "bundle")
    classifier = load_classifier(folder)
    assert [len(found) for _, found in row_stream(classifier, [["좋다"], ["별로", "영화"]], 2)] == [1, 2]
    began = load_bundle(folder, LAYOUT)
    write_bundle(folder, began.manifest, {**read_contents(began), "README.md": b"another"})
    with pytest.raises(
        BundleError, match="expected the bundle that was loaded at first, found another, .*; begin again"
    ):
        list(row_stream(classifier, [["좋다"]], 2))
