#!/bin/sh
# One-shot: `sh database.sh OWNER DATABASE...`, as PostgreSQL's superuser (PGHOST, PGUSER, PGPASSWORD). The role OWNER logs in
# with OWNER_PASSWORD and owns the databases, and nobody else may connect to them. Safe to run again: a password that was
# changed in .env is changed here.
set -eu
owner=$1
shift
: "${OWNER_PASSWORD:?the password of the role must be set}"

# \getenv and not a variable of psql: a command line can be read by every process of the host
run() {
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=owner="$owner" --set=database="$1" --dbname=postgres
}

run '' <<'SQL'
\getenv password OWNER_PASSWORD
SELECT format('CREATE ROLE %I LOGIN', :'owner')
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = :'owner') \gexec
SELECT format('ALTER ROLE %I PASSWORD %L', :'owner', :'password') \gexec
SQL

for database in "$@"; do
    run "$database" <<'SQL'
SELECT format('CREATE DATABASE %I OWNER %I', :'database', :'owner')
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = :'database') \gexec
SELECT format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', :'database') \gexec
SQL
done
