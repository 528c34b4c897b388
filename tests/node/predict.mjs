// A bundle in JavaScript: node predict.mjs BUNDLE < tokens.jsonl
//
// Reads one JSON list of tokens a line, as `nsmc-attention predict --format jsonl` gives them (or any binding of
// mecab-ko with the dictionary that the manifest names), where a rating or an emoji may be a pair of the token and its
// entry in vocab.json (["★★☆☆☆", "<4/10>"]), and prints {"label", "probability", "token_weights"} a line.
// What it does is the contract in the bundle's README.md, in its order.
import { readFileSync } from 'node:fs'
import * as ort from 'onnxruntime-web'

const SIZES = [2, 3], FIRST = 4, NGRAMS = FIRST * SIZES.length
const MASK = (1n << 64n) - 1n
const [SEED, STEP, LAST] = [0x9E3779B97F4A7C15n, 0xC2B2AE3D27D4EB4Fn, 0x165667B19E3779F9n]

// Hash `size` code points from `start` to 1 ... buckets - 1
function hashed(codes, start, size, buckets) {
  let value = (BigInt(codes[start]) * SEED) & MASK
  for (let step = 1; step < size; step++) {
    value = ((value + BigInt(codes[start + step] ?? 0)) * STEP) & MASK
    value ^= value >> 31n
  }
  return Number((((value * LAST) & MASK) >> 32n) % BigInt(buckets - 1)) + 1
}

// Number the n-grams that begin in each token's first characters, each once a review
function ngramIds(tokens, buckets) {
  const found = new Int32Array(tokens.length * NGRAMS), seen = new Set()
  const codes = Array.from(tokens.join(''), character => character.codePointAt(0))
  let start = 0
  tokens.forEach((token, place) => {
    const length = Array.from(token).length
    SIZES.forEach((size, kind) => {
      for (let step = 0; step < Math.min(FIRST, length); step++) {
        const id = hashed(codes, start + step, size, buckets)
        if (!seen.has(id)) found[place * NGRAMS + kind * FIRST + step] = id
        seen.add(id)
      }
    })
    start += length
  })
  return found
}

const folder = process.argv[2]
const { config: { text } } = JSON.parse(readFileSync(`${folder}/manifest.json`, 'utf8'))
const { token_to_idx: known, unknown_token: unknown } = JSON.parse(readFileSync(`${folder}/vocab.json`, 'utf8'))
const parameters = { path: 'model.safetensors', data: readFileSync(`${folder}/model.safetensors`) }
const session = await ort.InferenceSession.create(readFileSync(`${folder}/model.onnx`), { externalData: [parameters] })

for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const pairs = JSON.parse(line).slice(0, text.max_length).map(token => typeof token === 'string' ? [token, token] : token)
  const tokens = pairs.map(pair => pair[0]), length = tokens.length
  const ids = pairs.map(([, entry]) => Object.hasOwn(known, entry) ? known[entry] : known[unknown])
  const inputs = {
    token_ids: new ort.Tensor('int32', Int32Array.from(ids), [1, length]),
    valid_length: new ort.Tensor('int32', Int32Array.of(length), [1]),
  }
  if (text.ngram_buckets)
    inputs.ngram_ids = new ort.Tensor('int32', ngramIds(tokens, text.ngram_buckets), [1, length, NGRAMS])
  const { probability, weights } = await session.run(inputs)
  const looked = Array.from({ length }, (_, column) =>
    Array.from({ length }, (_, row) => weights.data[row * length + column]).reduce((a, b) => a + b) / length)
  const positive = probability.data[0]
  console.log(JSON.stringify({ label: positive >= 0.5 ? 'positive' : 'negative', probability: positive, token_weights: looked }))
}
