"""Real servers in child processes, each on a free port and started once for the same limits, and an application in this."""

import http.client
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

# without the server's packages
collect_ignore_glob = [] if find_spec("fastapi") else ["test_*.py"]

CODE = """
from nsmc_attention.apps.serve.app import serve
from nsmc_attention.apps.serve.guard import Limits
from nsmc_attention.apps.serve.service import Bundles
# as in the command
if __name__ == "__main__":
    serve(port=0, workers={workers}, bundles=Bundles(**{bundles}), limits=Limits(**{limits}))
"""


class Server:
    """A server with these workers, bundles and limits; its log is in `lines`, its tables in `folder`."""

    def __init__(self, workers=1, **options):
        bundles = {name: str(options.pop(name)) for name in [*options] if name.endswith("bundle")}
        code = CODE.format(workers=workers, limits=options, bundles=bundles)
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TMPDIR"))
        # these tests may run under nohup, or behind a shell's `&`
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "TMPDIR": self.folder},
            preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL) for each in (signal.SIGHUP, signal.SIGINT)],
        )
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(iter(self.process.stderr.readline, "")), daemon=True).start()
        self.wait_for("ready: ", workers)
        self.port = int(re.search(r"http://[\d.]+:(\d+)", "".join(self.lines)).group(1))
        self.wait_for("startup complete", workers)

    def wait_for(self, words, times=1):
        for _ in range(6000):
            if self.count(words) >= times:
                return
            assert self.process.poll() is None, "".join(self.lines)
            time.sleep(0.01)
        raise AssertionError(f"no {words!r} in {''.join(self.lines)}")

    def count(self, words):
        return sum(words in line for line in self.lines)

    def workers(self):
        """Return the workers that live: a killed one stays a child, without a command line, until the parent sees it."""
        workers = []
        for child in psutil.Process(self.process.pid).children():
            # multiprocessing's resource tracker is a child too
            with suppress(psutil.NoSuchProcess):
                workers += [child] if "spawn_main" in " ".join(child.cmdline()) else []
        return workers

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    @staticmethod
    def head(length, path="/predict", kind="application/json", more=""):
        return f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n".encode()

    def request(self, question, path="/predict", more=""):
        body = json.dumps(question).encode()
        return self.head(len(body), path, more=more) + body

    def batch(self, body=b"document\na\n"):
        return self.head(len(body), "/predict/batch", "text/csv") + body

    @staticmethod
    def status(answer):
        return int(answer.split()[1]) if answer else None

    @staticmethod
    def eventually(condition):
        """Wait until a condition holds, which it does sooner or later if a promise is kept."""
        for _ in range(600):
            if condition():
                return
            time.sleep(0.1)
        raise AssertionError("it never came")

    def sockets(self):
        process = psutil.Process(self.process.pid)
        return process.net_connections() if hasattr(process, "net_connections") else process.connections()

    def takes_tables(self):
        return self.ask("POST", "/predict/batch", b"document\na\n", "text/csv")[0] == 200

    def tables(self):
        """Return the folders of the tables and pictures that it has."""
        return list(Path(self.folder).glob("nsmc_attention-*"))

    def ask(self, method, path, body=None, kind="application/json"):
        """Return (status, headers, body)."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        client.request(method, path, body, {"Content-Type": kind} if body is not None else {})
        answer = client.getresponse()
        content = answer.read()
        client.close()
        return answer.status, answer.headers, content

    def predict(self, inputs):
        status, _, body = self.ask("POST", "/predict", json.dumps({"inputs": inputs}).encode())
        assert status == 200, body
        return json.loads(body)


@pytest.fixture(scope="package")
def start():
    """Return a function that starts a `Server`, once for the same arguments."""
    started = {}

    def started_with(**arguments):
        key = tuple(sorted(arguments.items()))
        if key not in started or started[key].process.poll() is not None:
            started[key] = Server(**arguments)
        return started[key]

    yield started_with
    for server in started.values():
        server.process.terminate()
    for server in started.values():
        server.process.wait(30)
        shutil.rmtree(server.folder, ignore_errors=True)
        assert "Traceback" not in "".join(server.lines), "".join(server.lines)[-5000:]


@pytest.fixture(scope="package")
def server(start):
    return start()


@pytest.fixture(scope="session")
def ready():
    """A function from an application to a client of it, in a `with` block, once its models are loaded."""
    from starlette import testclient

    @contextmanager
    def started(application):
        with testclient.TestClient(application, raise_server_exceptions=False) as client:
            while client.get("/readyz").status_code != 200:
                pass
            yield client

    return started


@pytest.fixture(scope="package")
def client(ready, tiny_editor, tiny_language, tiny_film):
    """A client of an application in this process: the packaged classifier, beside it tiny models, and low limits."""
    from nsmc_attention.apps.serve.app import create_app
    from nsmc_attention.apps.serve.guard import Limits
    from nsmc_attention.apps.serve.service import Bundles

    bundles = Bundles(restore_bundle=tiny_editor, language_bundle=tiny_language, film_bundle=tiny_film)
    with ready(create_app(bundles, Limits(table=3_000_000))) as client:
        yield client


@pytest.fixture(scope="session")
def ask():
    """A function that sends a client's request: a body of bytes, or what becomes JSON; other names are the address's."""

    def post(client, path, body, kind="application/json", **query):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {name: value for name, value in query.items() if value is not None}
        return client.post(path, content=content, headers={"Content-Type": kind} if kind else {}, params=given)

    return post


@pytest.fixture(scope="session")
def draw():
    """A function that returns the file of a picture with these lines of text."""
    from PIL import Image, ImageDraw, ImageFont

    from nsmc_attention.drawing.figure import font_file

    def drawn(*texts, size=20, kind="PNG"):
        font, width = ImageFont.truetype(str(font_file()), size), max(map(len, texts), default=1)
        picture = Image.new("RGB", (size * (width + 2), 3 * size * (len(texts) + 1)), "white")
        for number, text in enumerate(texts, 1):
            ImageDraw.Draw(picture).text((size, 3 * size * number - size), text, font=font, fill="black")
        file = io.BytesIO()
        picture.save(file, kind)
        return file.getvalue()

    return drawn


@pytest.fixture(scope="session")
def screenshot(draw):
    return draw("정말 재미있는 영화였어요", "배우는 좋은데 영화는 별로")


SIZES = {"desk": {"width": 1100, "height": 800}, "phone": {"width": 360, "height": 740}}


def pytest_generate_tests(metafunc):
    """Run a test of the page on a desk, and where the layout matters on a phone; with `-m system` axe-core checks it."""
    chosen = [each.args[0] for each in metafunc.definition.iter_markers("parametrize")]
    if "device" in metafunc.fixturenames and "device" not in chosen:
        phone = [] if metafunc.definition.get_closest_marker("layout") else [pytest.mark.slow]
        others = [pytest.param(name, marks=pytest.mark.system) for name in ("desk-dark", "phone-light")]
        metafunc.parametrize("device", ["desk-light", pytest.param("phone-dark", marks=phone), *others], indirect=True)


@pytest.fixture
def device(request):
    size, scheme = request.param.split("-")
    return {"viewport": SIZES[size], "color_scheme": scheme}


@pytest.fixture
def open_page(request, device, chromium, start):
    """A function that opens the page of a server; at the end nothing failed, came from elsewhere or scrolls sideways."""
    serious = request.getfixturevalue("serious") if request.node.get_closest_marker("system") else lambda page: []
    context, problems = chromium.new_context(locale="ko-KR", accept_downloads=True, **device), []

    def opened(**options):
        page, page.asked = context.new_page(), []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda problem: problems.append(str(problem)))
        page.on("dialog", lambda dialog: (problems.append("dialog"), dialog.dismiss()))
        page.on("request", lambda sent: page.asked.append(sent.url))
        page.goto(f"http://127.0.0.1:{start(**options).port}/")
        return page

    yield opened
    assert not [problem for problem in problems if "422" not in problem and "ERR_FAILED" not in problem]
    for page in context.pages:
        own = (page.url.partition("?")[0], "data:", "blob:")
        assert all(url.startswith(own) for url in page.asked), "nothing is loaded from outside"
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"
        assert not serious(page)
    context.close()


@pytest.fixture
def page(open_page):
    return open_page()


@pytest.fixture
def tiny_page(open_page, tiny_transformer, tiny_writer, tiny_language):
    """The page of a server with a tiny writer, whose classifier, without stars and films, and language model are Transformers."""
    return open_page(bundle=tiny_transformer, restore_bundle=tiny_writer, language_bundle=tiny_language)
