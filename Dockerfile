# The controller in a container: it talks to an engine (a nested one, a sibling's socket, or TCP with TLS).
# Build it from any Python 3.11+ base image that is at hand: --build-arg BASE=...
ARG BASE=python:3.11-slim
FROM ${BASE}
WORKDIR /opt/runner
COPY constraints.txt pyproject.toml README.md ./
COPY runner ./runner
COPY images ./images
COPY policies ./policies
RUN python -m pip install --no-cache-dir --require-hashes -r constraints.txt \
 && python -m pip install --no-cache-dir --no-deps --no-build-isolation . \
 && useradd --uid 10002 --create-home controller
USER 10002
WORKDIR /home/controller
ENTRYPOINT ["runner"]
