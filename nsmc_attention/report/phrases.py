"""What a report says, in Korean and English beside each other. Words in braces are filled in."""

LANGUAGES = ("ko", "en")
# Keys with _can and _cannot say what may be concluded from a section, and what may not
PHRASES = {
    "title": ("관객 리뷰 보고서", "What viewers say"),
    "positive": ("긍정", "positive"),
    "negative": ("부정", "negative"),
    "left_out": ("{count:,}개는 읽을 단어가 없어 뺐습니다.", "{count:,} without a readable word are left out."),
    "undated": (
        "{count:,}개는 날짜를 읽지 못해 기간별 그림에 없습니다.",
        "{count:,} without a readable date are not in the figure over time.",
    ),
    "key_share": ("긍정 리뷰", "positive reviews"),
    "key_interval": ("95 % 신뢰구간 {low:.1f}–{high:.1f} %", "95 % interval {low:.1f}–{high:.1f} %"),
    "key_count": ("분석한 리뷰", "reviews analysed"),
    "key_positive": ("그중 긍정 {count:,}개", "{count:,} of them positive"),
    "key_groups": ("비교 대상 ({name})", "compared ({name})"),
    "key_outliers": ("평균과 뚜렷이 다름 {count:,}개", "{count:,} clearly differ"),
    "key_period": ("기간", "period"),
    "key_months": ("리뷰가 있는 달 {count:,}개", "{count:,} months with reviews"),
    "found_above": ("평균보다 뚜렷이 좋은 반응", "Clearly better than average"),
    "found_below": ("평균보다 뚜렷이 나쁜 반응", "Clearly worse than average"),
    "found_praise": ("칭찬에 자주 나오는 말", "Words of praise"),
    "found_blame": ("비판에 자주 나오는 말", "Words of criticism"),
    "can": ("말할 수 있는 것", "What this shows"),
    "cannot": ("말할 수 없는 것", "What it does not"),
    "groups": ("{name}별 긍정 비율", "Positive reviews by {name}"),
    "groups_legend": (
        "점: 긍정 비율 · 막대와 괄호: 95 % 신뢰구간 · 세로선: 전체 {whole:.1f} % · 채운 점: 전체와 뚜렷이 다름 · 맨 오른쪽: 리뷰 수. "
        "리뷰가 많은 {shown:,}개를 긍정 비율 순으로 보입니다.",
        "Dot: share of positive reviews. Bar, brackets: 95 % interval. Line: all reviews, {whole:.1f} %. Filled: clearly "
        "different from all. Far right: number of reviews. The {shown:,} with most reviews, ordered by share.",
    ),
    "groups_can": (
        "채운 점은 우연만으로는 보기 드문 차이입니다(깔때기 그림의 99.8 % 한계).",
        "A filled dot differs by more than chance explains (99.8 % limits of a funnel plot).",
    ),
    "groups_cannot": (
        "막대가 서로 겹치면 순위를 말할 수 없습니다. 리뷰를 쓰지 않은 관객의 생각은 알 수 없습니다.",
        "Where bars overlap, the order means nothing. Viewers who wrote no review are not represented.",
    ),
    "times": ("시기별 긍정 비율", "Positive reviews over time"),
    "times_legend": (
        "점: 긍정 비율(%) · 막대: 95 % 신뢰구간 · 가로선: 전체 {whole:.1f} % · 채운 점: 전체와 뚜렷이 다름.",
        "Dot: share of positive reviews (%). Bar: 95 % interval. Line: all reviews, {whole:.1f} %. Filled: clearly different.",
    ),
    "times_can": ("반응이 언제 좋아지거나 나빠졌는지 볼 수 있습니다.", "When the response became better or worse."),
    "times_cannot": (
        "변화의 원인은 알 수 없습니다. 시기마다 리뷰가 달린 작품이 다를 수 있습니다.",
        "Why it changed. Each period may have reviews of other films.",
    ),
    "words": ("칭찬과 비판의 단어", "Words of praise and of criticism"),
    "praise": ("긍정 리뷰에 더 자주", "More often in positive reviews"),
    "blame": ("부정 리뷰에 더 자주", "More often in negative reviews"),
    "words_legend": (
        "막대: 두 쪽의 차이가 뚜렷한 정도(로그 오즈 비의 z값, Monroe 외 2008) · 흐린 막대: 우연일 수 있음 · "
        "숫자: 그 단어가 나온 긍정·부정 리뷰 수. 명사, 동사, 형용사만 기본형으로 셉니다.",
        "Bar: how clearly the sides differ (z of the log-odds ratio, Monroe et al. 2008). Pale: may be chance. Numbers: "
        "positive and negative reviews with the word. Nouns, verbs and adjectives are counted in their dictionary form.",
    ),
    "words_can": (
        "긍정으로 예측한 리뷰와 부정으로 예측한 리뷰가 어떤 말에서 갈리는지 볼 수 있습니다.",
        "Which words tell reviews predicted positive from those predicted negative.",
    ),
    "words_cannot": (
        "단어 하나가 칭찬이나 비판의 이유라고는 할 수 없습니다. ‘안 좋다’의 ‘좋다’도 세며, 배우와 작품 이름도 나옵니다.",
        "That a word is the reason. The 좋다 (good) of 안 좋다 (not good) is counted too, and names of people and films.",
    ),
    "attention": ("모델이 주목한 단어", "Words the model attends to"),
    "attention_positive": ("긍정 리뷰에서", "In positive reviews"),
    "attention_negative": ("부정 리뷰에서", "In negative reviews"),
    "attention_legend": (
        "숫자: 어텐션 가중치가 같은 리뷰 평균 단어의 몇 배인지 · 괄호: 나온 횟수.",
        "Number: attention weight as a multiple of the average word of the review. In brackets: occurrences.",
    ),
    "times_average": ("{weight:.1f}배 ({count:,}회)", "{weight:.1f} x ({count:,})"),
    "attention_can": (
        "모델의 예측이 주로 어떤 단어에 달려 있는지 볼 수 있습니다.",
        "Which words the predictions mainly depend on.",
    ),
    "attention_cannot": (
        "가중치에는 긍정·부정 방향이 없으며, 관객이 중요하게 여긴 단어라는 뜻도 아닙니다.",
        "A direction: weights have no sign. Nor what viewers themselves found important.",
    ),
    "certainty": ("예측이 얼마나 확실한가", "How certain the predictions are"),
    "certainty_legend": (
        "가로: 모델이 예측한 긍정일 확률(%) · 세로: 리뷰 수(가장 높은 막대 {top:,}개).",
        "Across: predicted probability of positive (%). Up: number of reviews (highest bar: {top:,}).",
    ),
    "certainty_can": (
        "가운데에 모인 리뷰가 많을수록 칭찬과 비판이 섞였거나 애매한 리뷰가 많습니다.",
        "The more reviews in the middle, the more are mixed or unclear.",
    ),
    "certainty_cannot": (
        "확률은 별점이 아닙니다. 99 %가 90 %보다 더 큰 칭찬이라는 뜻은 아닙니다.",
        "Probabilities are no stars: 99 % is not higher praise than 90 %.",
    ),
    "reviews": ("예시 리뷰", "Example reviews"),
    "most_positive": ("가장 긍정적인 리뷰", "Most positive"),
    "most_negative": ("가장 부정적인 리뷰", "Most negative"),
    "most_uncertain": ("가장 애매한 리뷰", "Most uncertain"),
    "reviews_legend": (
        "진한 단어일수록 모델의 어텐션 가중치가 큽니다. 막대는 긍정일 확률입니다.",
        "The darker a word, the larger its attention weight. The bar is the probability of positive.",
    ),
    "meaning": ("어텐션 가중치", "attention weight"),
    "reviews_can": (
        "양 끝과 가운데의 리뷰가 실제로 어떤 글인지 볼 수 있습니다.",
        "What reviews at the ends and in the middle are like.",
    ),
    "reviews_cannot": (
        "전체를 대표하지 않으며, 예측이 틀린 리뷰가 섞여 있을 수 있습니다.",
        "They are not typical, and some predictions may be wrong.",
    ),
    "method": ("이 보고서를 읽을 때", "About this report"),
    "method_model": (
        "사람이 아니라 모델(nsmc_attention {version}, {bundle})이 리뷰마다 긍정·부정을 예측했습니다.",
        "A model (nsmc_attention {version}, {bundle}), not a person, labelled each review positive or negative.",
    ),
    "method_accuracy": (
        "모델은 NSMC 테스트 데이터의 {accuracy:.1f} %를 맞힙니다. 반어와 부정 표현에서 더 자주 틀립니다.",
        "The model gets {accuracy:.1f} % of the NSMC test reviews right. Irony and negation are its weak points.",
    ),
    "method_intervals": (
        "신뢰구간은 리뷰 수에서 오는 오차만 나타내며, 모델 오류는 포함되지 않습니다.",
        "The intervals show the error of small numbers; they do not include the model's own errors.",
    ),
    "method_viewers": (
        "리뷰를 남긴 관객의 반응이며, 전체 관객의 반응과 다를 수 있습니다.",
        "These are the viewers who wrote reviews; all viewers may think otherwise.",
    ),
    "tables": ("표 내려받기", "Download the tables"),
}


def phrases(language: str) -> dict[str, str]:
    """Return the phrases in one of LANGUAGES, by key; no line ends before a percent sign."""
    place = LANGUAGES.index(language)
    return {key: pair[place].replace(" %", "\u00a0%") for key, pair in PHRASES.items()}
