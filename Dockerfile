# The page and the HTTP API:  docker compose up  ->  http://localhost:8000
FROM python:3.11-slim-bookworm AS build
# for the compiled parts
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH NSMC_ATTENTION_MINIMAL=1
# before the source: a change of the code does not install the packages again
COPY requirements/serve.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/serve.txt
RUN pip install --no-cache-dir setuptools==82.0.1
COPY . .
RUN pip install --no-cache-dir --no-build-isolation --no-deps . && nsmc-attention predict 최고

FROM python:3.11-slim-bookworm
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
RUN useradd --create-home user
USER user
WORKDIR /home/user
EXPOSE 8000
HEALTHCHECK --interval=30s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz')"]
ENTRYPOINT ["nsmc-attention", "serve", "--host", "0.0.0.0"]
