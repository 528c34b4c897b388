"""「Attention API로 간단히 어텐션 사용하기」의 분류기를 파일 하나로. That article's classifier in one file.
python notebooks/article.py [FOLDER of ratings_train.txt and ratings_test.txt; the sample by default]"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from pandas import read_csv

from nsmc_attention.drawing.figure import SETTINGS, families
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.text.tokenizers import pip_mecab

mxnet, mecab = import_mxnet(), pip_mecab()  # MXNet beside today's numpy, KoNLPy's Mecab without a system MeCab
import gluonnlp as nlp  # noqa: E402
from mxnet.gluon import HybridBlock, Trainer, data, loss, nn, rnn  # noqa: E402

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "data" / "sample")
DEVICE = mxnet.gpu() if mxnet.context.num_gpus() else mxnet.cpu()
LENGTH, BATCH, EPOCHS = 30, 50, 6
train, test = (read_csv(FOLDER / f"ratings_{part}.txt", sep="\t", quoting=3).dropna() for part in ("train", "test"))
counts = nlp.data.count_tokens(token for text in train["document"] for token in mecab.morphs(text))
vocab = nlp.Vocab(counts, max_size=20_000, bos_token=None, eos_token=None)
pad = nlp.data.PadSequence(LENGTH, pad_val=vocab[vocab.padding_token], clip=True)
batchify = nlp.data.batchify.Tuple(nlp.data.batchify.Stack("int32"), nlp.data.batchify.Stack("float32"))


def batches(frame):
    dataset = data.ArrayDataset([pad(vocab[mecab.morphs(text)]) for text in frame["document"]], frame["label"].tolist())
    return data.DataLoader(dataset, BATCH, shuffle=True, batchify_fn=batchify)


class SelfAttention(HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.embed, self.drop = nn.Embedding(len(vocab), 64), nn.Dropout(0.3)
            self.gru = rnn.GRU(64, layout="NTC", bidirectional=True)
            self.attention = nlp.model.MLPAttentionCell(30, act=nn.Activation("tanh"), dropout=0.2)
            self.dense = nn.Dense(2)

    def hybrid_forward(self, F, ids):
        states = self.gru(self.drop(self.embed(ids)))
        contexts, weights = self.attention(states, states)  # query and key: the states of the GRU
        return self.dense(contexts), weights


network, objective, accuracy = SelfAttention(), loss.SoftmaxCELoss(), mxnet.metric.Accuracy()
network.initialize(mxnet.init.Xavier(), ctx=DEVICE), network.hybridize()
trainer, train_batches, test_batches = Trainer(network.collect_params(), "adam"), batches(train), batches(test)
for epoch in range(EPOCHS):
    for ids, labels in train_batches:
        with mxnet.autograd.record():
            batch_loss = objective(network(ids.as_in_context(DEVICE))[0], labels.as_in_context(DEVICE))
        batch_loss.backward()
        trainer.step(len(ids))
    accuracy.reset()
    for ids, labels in test_batches:
        accuracy.update(labels, network(ids.as_in_context(DEVICE))[0])
    print(f"epoch {epoch + 1}: test accuracy {100 * accuracy.get()[1]:.2f} %")

plt.rcParams.update({**SETTINGS, "font.family": families()})
words = mecab.morphs("가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집")
scores, weights = network(mxnet.nd.array([pad(vocab[words])], ctx=DEVICE))
positive, drawn = scores.softmax()[0, 1].asscalar(), weights[0, : len(words), : len(words)].asnumpy()
plt.imshow(drawn, cmap="Blues", vmin=0), plt.colorbar(label="weight")
plt.xticks(range(len(words)), words, rotation=90), plt.yticks(range(len(words)), words)
plt.title(f"{'positive' if positive > 0.5 else 'negative'} {100 * max(positive, 1 - positive):.1f} %")
plt.savefig("article.png", bbox_inches="tight")
print(f"article.png: the largest weight is {drawn.max():.2f}, after {len(train):,} reviews")
