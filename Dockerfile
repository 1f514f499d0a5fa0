# One image for every process of ours: `leadproof worker`, `leadproof starter`, `leadproof sandbox`, `leadproof ledger
# upgrade`. It is given no HEALTHCHECK here, since what is healthy differs from one to the other: docker-compose.yml says it
# for each, with the two programs in /usr/local/share/leadproof.

FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
# no pip in the environment that is handed on: the builder's own installs into it
RUN python -m venv --without-pip /opt/leadproof
COPY requirements.lock ./
RUN pip --python /opt/leadproof/bin/python install --require-hashes --only-binary :all: -r requirements.lock
COPY pyproject.toml README.md ./
COPY leadproof/ leadproof/
COPY activities/ activities/
COPY workflows/ workflows/
COPY workers/ workers/
COPY starter/ starter/
COPY console/ console/
COPY sandbox/ sandbox/
# setuptools is in the lock because it builds this project; nothing imports it afterwards
RUN pip --python /opt/leadproof/bin/python install --no-deps --no-build-isolation . \
    && pip --python /opt/leadproof/bin/python uninstall --yes setuptools

FROM python:3.11-slim-bookworm
RUN python -m pip uninstall --yes --root-user-action=ignore wheel setuptools pip \
    && groupadd --system --gid 10001 leadproof \
    && useradd --system --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin leadproof
COPY --from=build /opt/leadproof /opt/leadproof
COPY deploy/image/ /usr/local/share/leadproof/
ENV PATH=/opt/leadproof/bin:/usr/local/bin:/usr/bin:/bin PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# by number, so that a platform that forbids root can see that it is none
USER 10001:10001
WORKDIR /tmp
ENTRYPOINT ["leadproof"]
CMD ["--help"]
