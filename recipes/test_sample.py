"""The sample corpus can be created again, and its test part is not in any training."""

from nsmc_attention.corpora import nsmc
from recipes.sample import ROOT, sample, write
from recipes.sentences import NEWER, training_table


def test_the_sample_is_what_the_recipe_writes(tmp_path):
    write(sample(), tmp_path)
    for name in nsmc.FILES.values():
        assert (tmp_path / name).read_bytes() == (ROOT / "data/sample" / name).read_bytes()


def test_no_packaged_training_has_read_the_test_part():
    read_by_training = set(training_table(templates=0, times=1, also=NEWER, neither=True)["document"])
    test, train = (nsmc.read(ROOT / "data/sample" / nsmc.FILES[part], "sample") for part in ("test", "train"))
    assert not read_by_training & set(test.documents) and read_by_training & set(train.documents)
