#!/bin/sh
# A worker's health: exit status 0 only if Temporal knows a poller of its task queue on this host (the SDK names itself
# `pid@host`). Temporal forgets a poller five minutes after its last request.
set -eu
case ${LEADPROOF_ENVIRONMENT:-} in
    *shadow*) queue=leads-shadow ;;
    *) queue=leads ;;
esac
temporal task-queue describe --disable-config-file --command-timeout 10s --output json --task-queue "$queue" \
    --address "$LEADPROOF_TEMPORAL_ADDRESS" --namespace "$LEADPROOF_TEMPORAL_NAMESPACE" |
    grep -q "@$(hostname)\""
