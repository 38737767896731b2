# ovillo as a server for one person or a team: docs/how-to/run-in-docker.md.
# What is installed has its digest in a lock; it runs as a user without rights, and keeps everything in /data.

FROM python:3.13-slim AS made
WORKDIR /source
COPY requirements.lock requirements-build.lock ./
RUN python -m venv /opt/ovillo /opt/build
RUN /opt/ovillo/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock
RUN /opt/build/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements-build.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN /opt/build/bin/python -m hatchling build -t wheel -d /wheels
RUN /opt/ovillo/bin/pip install --no-cache-dir --no-deps --no-index /wheels/*.whl && touch /opt/ovillo/ovillo-image

FROM python:3.13-slim
# Of the person whose histories are mounted, so that they can be read.
ARG UID=1000
RUN useradd --uid $UID --create-home ovillo && mkdir /data && chown $UID /data && chmod 700 /data
COPY --from=made /opt/ovillo /opt/ovillo
# Beyond loopback the server answers to keys only (ovillo key create).
ENV PATH=/opt/ovillo/bin:$PATH OVILLO_DATA_DIR=/data OVILLO_HOST=0.0.0.0 OVILLO_AUTH=apikey
USER ovillo
WORKDIR /home/ovillo
VOLUME /data
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import urllib.request as ask; ask.urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
CMD ["ovillo", "serve"]
