"""The model card that a bundle carries, written from its manifest alone."""


def model_card(manifest):
    """Answer the card as Markdown with YAML front matter, as model hubs read it."""
    config, data = manifest["config"], manifest["data"]
    rows = [f"| {part} | {100 * found['accuracy']:.2f} % | {found['f1']:.4f} | {found['log_loss']:.4f} "
            f"| {found['ece']:.4f} |" for part, found in manifest["metrics"].items()]
    return "\n".join([
        "---",
        "language: ko",
        "license: mit",
        "library_name: nsmc_attention",
        "pipeline_tag: text-classification",
        f"datasets: [{data['train']['name']}]",
        "metrics: [accuracy, f1]",
        "---",
        "",
        "# Korean film-review sentiment with self-attention",
        "",
        f"A self-attentive bidirectional GRU ({config['model']['architecture']} architecture, "
        f"{config['model']['attention']} score) over tokens of {manifest['tokenizer_version'] or 'characters'}.",
        f"Learned from {data['train']['used']:,} reviews of {data['train']['name']} "
        f"(sha256 `{data['train']['sha256'][:16]}…`); the epoch was chosen on {data['dev']['used']:,} others.",
        *stars(data.get("pretraining")),
        *wide(config["text"]["ngram_buckets"]),
        "",
        "| part | accuracy | F1 | log loss | ECE |",
        "|---|---|---|---|---|",
        *rows,
        "",
        "Made again by:",
        "",
        f"    {manifest['command']}",
        "",
        "Limits: short film reviews as Korean viewers write them; irony, other domains and other languages were not",
        "measured. Attention weights show where the model looks, which is not always why it answers as it does.",
        "",
    ])


def wide(buckets):
    """Answer the line on the wide part, none where there is none."""
    if not buckets:
        return []
    return [f"Its answer is joined with a logistic regression's on character n-grams, hashed to {buckets:,} numbers."]


def stars(pretraining):
    """Answer the lines on the raw reviews that the model learned from first, none where there were none."""
    if not pretraining:
        return []
    kept, read, by_id, by_text = (pretraining[key] for key in ("kept", "read", "left_out_by_id", "left_out_by_text"))
    return [f"Before that it learned the stars of {kept:,} raw reviews; of {read:,} read, {by_id:,} were left out by",
            f"id and {by_text:,} by text, because they are in the official test file or in the dev part."]
