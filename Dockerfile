# The controller: it talks to an engine (a nested one, a sibling's socket, or TCP with TLS) and is none itself.
# `tools/controller-image TAG` builds it, with packages fetched by the host's pip. Plainly, with an index in reach:
#   docker build -t sandbox-runner/controller .
# Pip's usual settings are build arguments (PIP_INDEX_URL, PIP_NO_INDEX, PIP_FIND_LINKS, PIP_CERT).
# BASE: any image with /bin/sh and Python 3.11 or newer that can make virtual environments. Pin yours by digest.
ARG BASE=python:3.11-slim

FROM ${BASE} AS build
USER 0:0
LABEL io.sandbox-runner.stage=build
ARG PIP_INDEX_URL
ARG PIP_NO_INDEX
ARG PIP_FIND_LINKS
ARG PIP_CERT
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /source
COPY . .
# First everything by its pinned hash; from then on nothing is taken from anywhere else.
RUN python3 -m venv /build \
 && /build/bin/pip download -q --only-binary :all: --require-hashes -r constraints-image.txt -d /pinned
RUN unset PIP_INDEX_URL PIP_FIND_LINKS && export PIP_NO_INDEX=1 \
 && /build/bin/pip wheel -q --find-links /pinned --no-deps -w /pinned . \
 && python3 -m venv --without-pip /opt/runner \
 && /build/bin/pip --python /opt/runner/bin/python install -q --find-links /pinned --compile sandbox-runner \
 && mkdir -p /home/controller/.runner && chown -R 10002:10002 /home/controller

# No shell, no package manager, no pip: Python and this program.
FROM ${BASE} AS strip
USER 0:0
LABEL io.sandbox-runner.stage=strip
COPY --from=build /opt/runner /opt/runner
COPY --from=build --chown=10002:10002 /home/controller /home/controller
COPY tools/strip_image.py /strip_image.py
RUN ["python3", "-B", "-I", "/strip_image.py"]

# One layer, so that what was removed is not below.
FROM scratch
COPY --from=strip / /
LABEL org.opencontainers.image.title="sandbox-runner controller" \
      org.opencontainers.image.description="Replays untrusted bug reports on the engine that it is given" \
      org.opencontainers.image.documentation="docs/engines.md"
ENV PATH=/opt/runner/bin:/usr/local/bin:/usr/bin HOME=/home/controller LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 RUNNER_STORE=/home/controller/.runner
USER 10002:10002
WORKDIR /home/controller
VOLUME /home/controller/.runner
ENTRYPOINT ["runner"]
CMD ["--help"]
