"""Eleven phone pages, drawn by Chromium with the boxes of their lines, and the lines that `read` reads exactly.

    python -m benchmarks.reading.phones OUT_FOLDER [--seed 1]
    python -m benchmarks.reading.phones OUT_FOLDER --score [--verbose]

Two chats, reviews of a shop, an app store, a site of films, a community, a table, settings, comments on news and on
videos, a booking: 360 to 430 CSS pixels wide, two or three pixels each, in Debian's fonts-nanum and fonts-noto-cjk.
Their texts were written for this benchmark, without emoji, and are filled with random names, dates and numbers.
"""

import numpy
from PIL import Image

from nsmc_attention.systems.read.reader import PictureReader
from nsmc_attention.systems.read.strips import Box

from .screens import Source
from .screenshots import known, parser_of, photograph, pictures_in

# Lines so close beside each other, as a share of their height, may be read as one
CLOSE = 1.5
FAMILIES = ("Noto Sans CJK KR", "NanumGothic", "NanumBarunGothic", "NanumSquare")
CSS = """
* { box-sizing: border-box; margin: 0; padding: 0 } body { line-height: 1.45; word-break: keep-all; overflow-wrap: anywhere; font-size: 15px }
.row { display: flex; align-items: center; gap: 8px } .spread { display: flex; justify-content: space-between; align-items: center }
.pad { padding: 12px 16px } .face { flex: none; width: 36px; height: 36px; border-radius: 38%; background: linear-gradient(130deg, #d96, #468 60%, #8b5) }
.round { border-radius: 50% } .photo { flex: none; background: linear-gradient(200deg, #345, #a76 45%, #eda 60%, #253); border-radius: 6px }
svg { width: 20px; height: 20px; flex: none; stroke: currentColor; fill: none; stroke-width: 2 } svg.full { fill: currentColor; stroke: none }
svg.small { width: 14px; height: 14px } small, .small { font-size: 12px } .tiny { font-size: 11px } .faint { opacity: .6 } .rule { border-bottom: 1px solid #8883 }
.tag { padding: 2px 8px; border-radius: 12px; font-size: 12px } .badge { background: #e53935; color: #fff; border-radius: 10px; padding: 0 6px; font-size: 11px }
.bubble { padding: 7px 11px; border-radius: 14px; max-width: 240px; width: fit-content } table { border-collapse: collapse; width: 100%; font-size: 13px } td, th { padding: 8px 6px; text-align: left; font-weight: 400 }
"""
PATHS = {
    "back": "M15 4l-8 8 8 8",
    "next": "M9 4l8 8-8 8",
    "search": "M10 4a6 6 0 1 0 .1 0M15 15l6 6",
    "menu": "M3 6h18M3 12h18M3 18h18",
    "more": "M12 5v2M12 11v2M12 17v2",
    "like": "M7 11v9H3v-9zM7 11l4-8c2 0 3 1 3 3v3h6l-2 11H7",
    "talk": "M4 4h16v12H9l-5 4z",
    "heart": "M12 20C2 12 4 5 8 5c2 0 4 2 4 3 0-1 2-3 4-3 4 0 6 7-4 15z",
    "star": "M12 3l3 6 6 1-4.5 4.5 1 6.5-5.5-3-5.5 3 1-6.5L3 10l6-1z",
    "plus": "M12 4v16M4 12h16",
    "bell": "M6 17V10a6 6 0 0 1 12 0v7l2 2H4zM10 21h4",
    "home": "M4 11l8-7 8 7v9H4z",
    "person": "M12 4a4 4 0 1 0 .1 0M4 20c2-8 14-8 16 0",
    "share": "M12 16V3M7 8l5-5 5 5M5 13v8h14v-8",
}
NAMES = (
    "하늘바다",
    "김지우",
    "달빛 아래",
    "영화광",
    "솔이네",
    "박서준",
    "초보집사",
    "movie_fan",
    "Hana",
    "ksy0***",
    "익명3",
    "봄날의곰",
)
REMARKS = (
    "배송이 하루 만에 왔어요. 포장도 꼼꼼하고 색감이 사진이랑 똑같아서 마음에 듭니다.",
    "생각보다 얇아서 겨울에는 못 입을 것 같아요",
    "세 번째 재구매입니다! 부모님도 좋아하세요",
    "업데이트하고 나서 로그인이 자꾸 풀리네요. 빨리 고쳐 주세요...",
    "광고가 너무 많아서 지웠습니다.",
    "마지막 20분은 정말 숨도 못 쉬고 봤다. 배우들 연기가 다 했다.",
    "원작을 안 읽은 사람은 이해하기 어려울 듯",
    "ㅋㅋㅋㅋㅋ 여기서 터졌다",
    "와 이건 진짜 공감 ㅠㅠ",
    "그래서 결론이 뭔가요?",
    "정책을 바꾸기 전에 현장부터 가 보셨으면 합니다.",
    "어제 갔는데 40분 기다렸어요. 그래도 맛있었습니다",
    "조용하고 직원분들이 친절해요. 주차는 2시간 무료입니다.",
    "2:31 이 부분 계속 돌려보는 중",
    "10점 만점에 8점. 음악이 아쉽다",
)
SAID = (
    "오늘 몇 시에 볼까?",
    "7시 어때",
    "나 조금 늦을 듯 ㅠㅠ",
    "괜찮아 천천히 와",
    "ㅋㅋㅋㅋ",
    "네",
    "예매는 내가 해 둘게. 자리는 F열 7, 8번으로 잡았어",
    "팝콘 사 둘까?",
    "ㅇㅋ",
    "좋아!!",
    "감사합니다^^",
    "거기 주차 되나요?",
)


class Draw(Source):
    """Names, dates and numbers drawn at random, as pieces of HTML."""

    def __init__(self, seed):
        super().__init__(REMARKS, numpy.random.RandomState(seed))

    def date(self):
        year, month, day = self.number(2021, 2027), self.number(1, 13), self.number(1, 29)
        ago = f"{self.number(1, 12)}개월 전", f"{self.number(2, 24)}시간 전"
        return self.pick(f"{year}.{month:02}.{day:02}", f"{year}. {month}. {day}.", *ago)

    def star_row(self, size, color):
        count = self.number(1, 6)  # never none, unlike `stars`
        return f'<span style="font-size:{size}px;color:{color}">{"★" * count + "☆" * (5 - count)}</span>'

    def bar(self, title, color="inherit", back="transparent"):
        return f'<div class="spread pad" style="background:{back};color:{color}">{icon("back")}<b style="font-size:17px">{title}</b>{icon("search")}</div>'

    def status(self):
        battery = '<i style="display:block;width:22px;height:11px;border:1px solid;border-radius:3px;background:linear-gradient(90deg,currentColor 70%,#0000 70%)"></i>'
        return f'<div class="spread small" style="padding:6px 18px"><b>{self.number(1, 13)}:{self.number(0, 60):02}</b><div class="row"><span>{self.pick("LTE", "5G")}</span>{battery}</div></div>'


def icon(name, kind=""):
    return f'<svg viewBox="0 0 24 24" class="{kind}"><path d="{PATHS[name]}"/></svg>'


def tabs(*names):
    kinds = zip(("home", "search", "bell", "person"), names)
    inner = "".join(
        f'<div style="text-align:center">{icon(kind)}<div class="tiny">{name}</div></div>' for kind, name in kinds
    )
    return f'<div class="row" style="justify-content:space-around;padding:8px;border-top:1px solid #8883">{inner}</div>'


def chat(draw, page, ink, left, right, right_ink):
    rows = [
        f'<div style="text-align:center;padding:8px"><span class="tag" style="background:#0002">2026년 {draw.number(1, 13)}월 {draw.number(1, 29)}일 토요일</span></div>'
    ]
    for number in range(9):
        own = number % 3 == 2
        said = "".join(
            f'<div class="row" style="align-items:flex-end;gap:5px;margin:4px 0;flex-direction:row{"-reverse" * own}"><div class="bubble" style="background:{right if own else left};color:{right_ink if own else "inherit"}">{draw.pick(*SAID)}</div><span class="tiny faint" style="white-space:nowrap">{draw.time()}</span></div>'
            for _ in range(draw.number(1, 3))
        )
        head = "" if own else f'<small class="faint">{draw.pick(*NAMES)}</small>'
        rows.append(
            f'<div style="display:flex;gap:8px;padding:2px 12px;flex-direction:row{"-reverse" * own}">{"" if own else "<i class=face></i>"}<div>{head}{said}</div></div>'
        )
    entry = (
        f'<div class="row pad">{icon("plus")}<span class="faint" style="flex:1">메시지 입력</span>{icon("share")}</div>'
    )
    return f'<body style="background:{page};color:{ink}">{draw.status()}{draw.bar("영화 모임 " + str(draw.number(3, 30)))}{"".join(rows)}{entry}'


def light_chat(draw):
    return chat(draw, draw.pick("#b2c7da", "#f5f5f5", "#e5e5e5", "#abc1d1"), "#191919", "#fff", "#fee500", "#191919")


def dark_chat(draw):
    return chat(
        draw, draw.pick("#1e2022", "#0e1621", "#000"), "#eee", "#2c2e33", draw.pick("#2b5278", "#0b84fe"), "#fff"
    )


def shop(draw):
    gold, items = draw.pick("#f5a623", "#ff6f0f", "#222"), []
    for _ in range(4):
        pictures = "".join('<i class="photo" style="width:76px;height:76px"></i>' for _ in range(draw.number(0, 4)))
        items.append(
            f'<div class="pad rule"><div class="spread"><div class="row"><i class="face round"></i><div><b class="small">{draw.pick(*NAMES)}</b><div class="row">{draw.star_row(draw.number(11, 15), gold)}<span class="tiny faint">{draw.date()}</span></div></div></div>{icon("more")}</div>'
            f'<div class="tiny faint" style="margin:6px 0">옵션: {draw.pick("네이비", "아이보리", "블랙")} / {draw.pick("M", "L", "XL")}</div><p style="font-size:14px">{draw.pick(*REMARKS)}</p><div class="row" style="margin:6px 0">{pictures}</div>'
            f'<span class="tag" style="border:1px solid #ccc">{draw.pick("도움돼요", "도움이 됐어요")} {draw.number(1, 300)}</span> <span class="tag" style="background:#f1f3f5">댓글 {draw.number(1, 40)}</span></div>'
        )
    chips = "".join(
        f'<span class="tag" style="background:{look}">{word}</span>'
        for word, look in (
            ("전체", "#222;color:#fff"),
            ("사진 후기", "#f1f3f5"),
            ("최신순", "#f1f3f5"),
            ("별점 낮은순", "#fff;border:1px solid #ddd"),
        )
    )
    score = f'<div class="row pad"><b style="font-size:34px">{draw.number(30, 50) / 10}</b><div>{draw.star_row(16, gold)}<div class="tiny faint">리뷰 {draw.number(100, 9999):,}개</div></div></div>'
    return f'<body style="background:#fff;color:#222">{draw.bar("상품 후기")}{score}<div class="row pad">{chips}</div>{"".join(items)}'


def store(draw):
    svg = "".join(icon("star", "full small") for _ in range(4)) + icon("star", "small")
    share = "".join(
        f'<div class="row tiny"><span>{n}</span><i style="flex:1;height:6px;border-radius:3px;background:linear-gradient(90deg,#01875f {15 * n}%,#e8eaed {15 * n}%)"></i></div>'
        for n in (5, 4, 3, 2, 1)
    )
    items = "".join(
        f'<div class="pad"><div class="spread"><div class="row"><i class="face round"></i><span class="small">{draw.pick(*NAMES)}</span></div>{icon("more")}</div><div class="row" style="color:#01875f;margin:6px 0;gap:2px">{svg}<span class="tiny" style="color:#5f6368;margin-left:8px">{draw.date()}</span></div><p style="font-size:14px;color:#3c4043">{draw.pick(*REMARKS)}</p><p class="small faint" style="margin-top:6px">이 리뷰가 유용하다는 평가를 받은 횟수: {draw.number(2, 900)}회</p></div>'
        for _ in range(4)
    )
    head = '<div class="row pad"><i class="photo" style="width:64px;height:64px;border-radius:16px"></i><div><b style="font-size:20px">우리동네 가계부</b><div class="small" style="color:#01875f">나무소프트</div></div></div><div style="margin:0 16px;padding:9px;text-align:center;border-radius:8px;background:#01875f;color:#fff">설치</div>'
    return f'<body style="background:#fff;color:#202124">{draw.status()}{head}<div class="spread pad"><b>평점 및 리뷰</b>{icon("next")}</div><div class="row pad" style="gap:20px"><div><b style="font-size:44px;line-height:1">{draw.number(30, 50) / 10}</b><div class="tiny faint">{draw.number(1, 90)}만</div></div><div style="flex:1">{share}</div></div>{items}'


def films(draw):
    items = "".join(
        f'<div style="background:#1c1d1f;border-radius:12px;margin:10px 12px" class="pad"><div class="spread"><div class="row"><i class="face round" style="width:28px;height:28px"></i><b class="small">{draw.pick(*NAMES)}</b></div><span class="tag" style="border:1px solid #444">★ {draw.number(2, 11) / 2}</span></div><p style="margin:8px 0;font-size:14px;color:#d8d8d8">{draw.pick(*REMARKS)}</p><div class="row tiny" style="color:#9a9a9a">{icon("like", "small")}<span>{draw.number(1, 2000)}</span>{icon("talk", "small")}<span>{draw.number(1, 90)}</span><span style="margin-left:auto">{draw.date()}</span></div></div>'
        for _ in range(5)
    )
    head = f'<div class="row pad" style="align-items:flex-start"><i class="photo" style="width:92px;height:132px"></i><div><b style="font-size:22px">밤의 우체국</b><div class="small faint">The Night Post · 2025</div><div class="small faint">드라마/미스터리 · 한국</div><div class="small faint">1시간 58분 · 15세</div><div class="small" style="color:#ff2f6e;margin-top:8px">평균 ★ {draw.number(25, 48) / 10} ({draw.number(1, 90)}만 명)</div></div></div>'
    return f'<body style="background:#000;color:#fff">{head}<div class="spread pad"><b>코멘트</b><span class="small" style="color:#ff2f6e">더보기</span></div>{items}'


def community(draw):
    items = []
    for number in range(8):
        reply = number % 3 == 2
        items.append(
            f'<div class="rule" style="padding:10px 16px 10px {44 if reply else 16}px;background:{"#f8f9fa" if reply else "#fff"}"><div class="spread small"><div class="row"><b>{draw.pick(*NAMES)}</b>{"<span class=tag style=background:#e3f2fd;color:#1565c0>작성자</span>" if reply else ""}</div><span class="faint tiny">{draw.date()}</span></div><p style="font-size:14px">{draw.pick(*REMARKS)}</p><div class="row tiny faint"><span>답글쓰기</span><span>·</span><span>공감 {draw.number(1, 99)}</span></div></div>'
        )
    head = f'<div class="pad rule"><b style="font-size:18px">동네 빵집 추천 좀 해 주세요</b><div class="row small faint" style="margin:4px 0 10px"><span>{draw.pick(*NAMES)}</span><span>|</span><span>조회 {draw.number(100, 9999):,}</span><span>|</span><span>{draw.date()}</span></div><p>이사 온 지 얼마 안 돼서요.<br>식빵이 맛있는 곳이면 더 좋겠습니다!</p></div>'
    return f'<body style="background:#fff;color:#222">{draw.bar("자유게시판", "#fff", draw.pick("#03c75a", "#3b5998", "#2f3542"))}{head}<div class="pad"><b>댓글 {draw.number(8, 40)}</b></div>{"".join(items)}'


def table(draw):
    rows = "".join(
        f'<tr style="border-bottom:1px solid #ddd;background:{"#fff" if n % 2 else "#f7f9fc"}"><td>{n}</td><td>{draw.pick("밤의 우체국", "여름 정원", "마지막 열차", "작은 섬", "우리 둘의 사계")}</td><td>{draw.number(3, 10)}.{draw.number(0, 10)}</td><td style="text-align:right">{draw.number(1000, 999999):,}</td><td style="color:{("#d32f2f", "#1976d2")[n % 2]}">{"▲▼"[n % 2]} {draw.number(1, 9)}</td></tr>'
        for n in range(1, 12)
    )
    return f'<body style="background:#fff;color:#222">{draw.status()}{draw.bar("박스오피스")}<div class="row pad small"><b style="border-bottom:2px solid">일간</b><span class="faint">주간</span><span class="faint">월간</span><span class="faint" style="margin-left:auto">2026.11.{draw.number(1, 29)} 기준</span></div><table><tr style="background:#2f5597;color:#fff"><th>순위</th><th>제목</th><th>평점</th><th style="text-align:right">관객 수</th><th>변동</th></tr>{rows}</table><p class="tiny faint pad">* 관객 수는 영화관입장권 통합전산망 자료입니다.</p>{tabs("홈", "검색", "알림", "내 정보")}'


def settings(draw):
    dark = draw.number(0, 2)
    page, card, ink = (("#f2f2f7", "#fff", "#000"), ("#000", "#1c1c1e", "#fff"))[dark]
    toggle = '<i style="display:block;width:46px;height:28px;border-radius:14px;background:radial-gradient(circle at 32px 14px,#fff 12px,#34c759 12.5px)"></i>'
    values = ("켜짐", "보통", "시스템 설정", "한국어", "10.4.2", "기본값")
    groups = (
        ("알림", ("메시지 알림", "알림음", "진동")),
        ("화면", ("글자 크기", "배경 화면", "다크 모드", "언어")),
        ("정보", ("버전 정보", "오픈소스 라이선스", "고객센터", "로그아웃")),
    )

    def entry(word):
        value = f'<div class="row"><span class="faint">{draw.pick(*values)}</span>{icon("next", "small")}</div>'
        return (
            f'<div class="spread rule" style="padding:11px"><span>{word}</span>{draw.pick(value, value, toggle)}</div>'
        )

    def group(title, words):
        inner = "".join(map(entry, words))
        return f'<div class="small faint" style="padding:14px 28px 6px">{title}</div><div style="background:{card};border-radius:12px;margin:0 16px">{inner}</div>'

    profile = f'<div class="row pad" style="background:{card};border-radius:12px;margin:8px 16px"><i class="face round" style="width:52px;height:52px"></i><div><div style="font-size:18px">{draw.pick(*NAMES)}</div><div class="small faint">계정, 결제 및 구독 관리</div></div><span class="badge" style="margin-left:auto">{draw.number(1, 20)}</span></div>'
    body = "".join(group(*each) for each in groups)
    return f'<body style="background:{page};color:{ink}">{draw.status()}<h1 style="padding:8px 18px;font-size:30px">설정</h1>{profile}{body}'


def news(draw):
    items = "".join(
        f'<div class="pad rule"><div class="small"><b>{draw.pick("user", "kim", "abc")}{draw.number(10, 99)}****</b></div><p style="margin:3px 0">{draw.pick(*REMARKS)}</p><div class="tiny faint">{draw.date()}</div><div class="spread" style="margin-top:8px"><span class="small" style="border:1px solid #ddd;padding:3px 8px">답글 {draw.number(0, 30)}</span><div class="row small"><span style="border:1px solid #ddd;padding:3px 8px">공감 {draw.number(1, 4000)}</span><span style="border:1px solid #ddd;padding:3px 8px">비공감 {draw.number(1, 400)}</span></div></div></div>'
        for _ in range(5)
    )
    head = f'<div class="pad"><b style="font-size:21px;line-height:1.35;display:block">지하철 막차 시간 30분 늦춘다… 내년 3월부터 시범 운행</b><div class="small faint" style="margin-top:8px">입력 2026.11.{draw.number(1, 29)}. {draw.time()}</div></div>'
    return f'<body style="background:{draw.pick("#fff", "#fbf7ef")};color:#222;font-size:14px">{head}<div class="spread pad" style="border-top:8px solid #f1f3f5"><b>댓글 {draw.number(100, 2000):,}</b><div class="row small faint"><b>순공감순</b><span>최신순</span><span>과거순</span></div></div>{items}'


def videos(draw):
    dark = draw.number(0, 2)
    items = "".join(
        f'<div class="row pad" style="align-items:flex-start;gap:12px"><i class="face round" style="width:28px;height:28px"></i><div style="flex:1"><div class="small faint">@{draw.pick("haneul", "movie_fan", "user-kq3", "sol2")}{draw.number(1, 99)} · {draw.date()}{draw.pick(" (수정됨)", "", "")}</div><p style="font-size:14px">{draw.pick(*REMARKS)}</p><div class="row small" style="gap:18px;margin-top:6px"><span class="row" style="gap:5px">{icon("like", "small")}{draw.number(1, 999)}</span>{icon("heart", "small")}<span class="row">{icon("talk", "small")}</span></div><div class="small" style="color:#3ea6ff;font-weight:700;margin-top:8px">답글 {draw.number(1, 40)}개</div></div>{icon("more", "small")}</div>'
        for _ in range(6)
    )
    head = f'<i class="photo" style="display:block;height:200px;border-radius:0"></i><div class="pad"><b style="font-size:17px">골목 끝 30년 국숫집, 새벽 4시의 기록</b><div class="small faint">조회수 {draw.number(2, 99)}만회 · {draw.date()}</div></div><div class="row pad"><i class="face round"></i><b class="small">골목기록</b><span class="tiny faint">구독자 {draw.number(1, 99)}.{draw.number(1, 9)}만명</span><span class="tag" style="margin-left:auto;background:{("#0f0f0f;color:#fff", "#f1f1f1;color:#0f0f0f")[dark]};padding:6px 14px;border-radius:16px">구독</span></div>'
    return f'<body style="background:{("#fff", "#0f0f0f")[dark]};color:{("#0f0f0f", "#f1f1f1")[dark]}">{head}<div class="row pad"><b>댓글</b><span class="faint">{draw.number(10, 999)}</span></div>{items}'


def booking(draw):
    times = "".join(
        f'<span style="border:1px solid {color};color:{color};border-radius:8px;padding:7px 12px;font-size:14px">{hour}:{minute}</span>'
        for hour, minute, color in (
            ("11", "30", "#bbb"),
            ("12", "00", "#222"),
            ("17", "30", "#222"),
            ("18", "00", "#e8590c"),
            ("18", "30", "#222"),
            ("19", "00", "#bbb"),
        )
    )
    days = "".join(
        f'<div style="text-align:center;padding:8px 10px;border-radius:10px;background:{"#222;color:#fff" if n == 2 else "#fff0"}"><div class="tiny faint">{day}</div><b>{n + draw.number(0, 2) + 12}</b></div>'
        for n, day in enumerate("월화수목금토")
    )
    facts = "".join(
        f'<div class="spread" style="padding:6px 0"><span class="faint">{name}</span><span>{value}</span></div>'
        for name, value in (
            ("예약금", f"{draw.number(1, 9)}0,000원"),
            ("인원", f"성인 {draw.number(2, 7)}명"),
            ("요청 사항", "창가 자리 부탁드립니다"),
            ("취소", "하루 전까지 무료"),
        )
    )
    reviews = "".join(
        f'<div style="background:#f7f7f8;border-radius:10px;padding:12px;margin-top:8px"><div class="spread small"><b>{draw.pick(*NAMES)}</b><span class="faint">{draw.date()}</span></div><div class="row" style="gap:4px">{draw.star_row(12, "#ff9500")}<span class="tiny">{draw.number(30, 51) / 10}</span></div><p style="font-size:14px">{draw.pick(*REMARKS)}</p></div>'
        for _ in range(3)
    )
    return f'<body style="background:#fff;color:#222">{draw.status()}{draw.bar("예약하기")}<div class="pad rule"><b style="font-size:20px">솔밭식당 성수점</b><div class="small faint">한식 · 서울 성동구 · 1.2km</div><div class="row" style="margin-top:8px"><span class="tag" style="background:#fff3e0;color:#e65100">예약 할인 10%</span><span class="tag" style="background:#e8f5e9;color:#2e7d32">주차 가능</span></div></div><div class="pad"><b>날짜와 시간</b><div class="spread" style="margin:8px 0">{days}</div><div style="display:flex;gap:8px;flex-wrap:wrap">{times}</div></div><div class="pad">{facts}{reviews}</div><div style="margin:8px 16px;padding:13px;text-align:center;border-radius:10px;background:#e8590c;color:#fff;font-weight:700">{draw.number(2, 9)}명 예약 신청</div>'


PAGES = (light_chat, dark_chat, shop, store, films, community, table, settings, news, videos, booking)


def take(folder, seed):
    """Write the pictures of the pages, and lines.json."""
    draw = Draw(seed)
    with pictures_in(folder) as (browser, pictures):
        for number, page in enumerate(PAGES):
            family, scale = draw.pick(*FAMILIES), draw.pick(2, 3)
            width = draw.pick(360, 375, 390, 412, 430)
            look = f"{CSS} body{{font-family:'{family}'}} html{{background:inherit}}"
            name = f"{number:02}-{page.__name__}.png"
            content = f'<!doctype html><meta charset="utf-8"><style>{look}</style>{page(draw)}'
            lines = photograph(browser, content, width, scale, folder / name)
            # signs between parts of a line, · and |, are no lines
            lines = [line for line in lines if len(line["text"]) > 1 or line["text"].isalnum()]
            pictures[name] = {"family": family, "scale": scale, "lines": lines}


def exact(true, lines):
    """Return which of the true lines are read exactly by one line, alone or together with others close beside them."""
    right = [False] * len(true)
    for line in lines:
        left, top, end, bottom = line.box
        own = [
            number
            for number, each in enumerate(true)
            if left < (each["box"][0] + each["box"][2]) / 2 < end
            and top < (each["box"][1] + each["box"][3]) / 2 < bottom
        ]
        own.sort(key=lambda number: true[number]["box"][0])
        boxes = [true[number]["box"] for number in own]
        near = all(after[0] - before[2] < CLOSE * (after[3] - after[1]) for before, after in zip(boxes, boxes[1:]))
        if near and line.text == " ".join(true[number]["text"] for number in own):
            for number in own:
                right[number] = True
    return right


def score(folder, verbose=False):
    """Print for each page how many of its lines are exact, also when the reader is given their boxes, and how many are none."""
    reader, sums = PictureReader.load(), numpy.zeros(5, int)
    print(f"{'':20}{'lines':>7}{'exact':>7}{'given boxes':>13}{'no line':>9}{'left out':>10}")
    for name, about in known(folder):
        gray, true = numpy.asarray(Image.open(folder / name).convert("L")), about["lines"]
        reading = reader(gray)
        given = reader.read_boxes(gray, [Box(*map(round, each["box"])) for each in true])
        right = exact(true, reading.lines)
        by_box = [line.text == each["text"] for line, each in zip(given, true)]
        none = [line for line in reading.lines if not any(is_within(each["box"], line.box) for each in true)]
        counts = len(true), sum(right), sum(by_box), len(none), len(reading.left_out)
        sums += counts
        print(f"{name:20}{counts[0]:7}{counts[1]:7}{counts[2]:13}{counts[3]:9}{counts[4]:10}")
        if verbose:
            for each, hit, given_right in zip(true, right, by_box):
                if not hit:
                    near = [
                        (line.text, tuple(line.box))
                        for line in reading.lines
                        if is_within(each["box"], line.box) or is_within(line.box, each["box"])
                    ]
                    print("  ", "" if given_right else "(reader)", each["text"], [round(e) for e in each["box"]], near)
            for line in none:
                print("   none", repr(line.text), tuple(line.box), round(line.score, 2))
    print(f"{'all':20}{sums[0]:7}{sums[1]:7}{sums[2]:13}{sums[3]:9}{sums[4]:10}")


def is_within(box, other):
    """Return whether the middle of a box is in another one."""
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return other[0] <= x <= other[2] and other[1] <= y <= other[3]


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    score(arguments.folder, arguments.verbose) if arguments.score else take(arguments.folder, arguments.seed)


if __name__ == "__main__":
    main()
