#!/bin/sh
# One-shot: brings Temporal's two databases to the schema that comes with this image. Safe to run again: what is there already
# is left, and after a newer image what is new is added. Where the databases are comes in SQL_HOST, SQL_PORT, SQL_USER and
# SQL_PASSWORD, of which kind in SQL_PLUGIN.
set -eu
schema=/etc/temporal/schema/postgresql/v12

temporal-sql-tool --database temporal setup-schema -v 0.0
temporal-sql-tool --database temporal update-schema -d "$schema/temporal/versioned"
temporal-sql-tool --database temporal_visibility setup-schema -v 0.0
temporal-sql-tool --database temporal_visibility update-schema -d "$schema/visibility/versioned"
