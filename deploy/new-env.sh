#!/bin/sh
# `sh deploy/new-env.sh`: makes .env from .env.example, with passwords, tokens and keys made up. What only you know stays empty.
set -eu
cd "$(dirname "$0")/.."
if [ -e .env ]; then
    echo 'new-env.sh: there is a .env already; it is left as it is' >&2
    exit 1
fi

secret() {
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

umask 077
sed -e "s/^\(POSTGRES_PASSWORD=\)$/\1$(secret)/" \
    -e "s/^\(TEMPORAL_DB_PASSWORD=\)$/\1$(secret)/" \
    -e "s/^\(LEDGER_DB_PASSWORD=\)$/\1$(secret)/" \
    -e "s/^\(DEMO_WEBHOOK_SECRET=\)$/\1$(secret)/" \
    -e "s/^\(LEADPROOF_DECISION_KEY=\)$/\1$(secret)/" \
    -e "s/^\(LEADPROOF_REVIEW_KEY=\)$/\1$(secret)/" \
    -e "s/^\(LEADPROOF_SALESFORCE_PATH_SECRETS=\)$/\1$(secret)/" \
    -e "s/CHANGE-ME-TOO/$(secret)/" \
    -e "s/CHANGE-ME/$(secret)/" \
    .env.example >.env.new
mv .env.new .env
