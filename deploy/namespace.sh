#!/bin/sh
# One-shot: the namespace of TEMPORAL_NAMESPACE with its retention, and the search attributes without which a worker refuses to
# start. Safe to run again; a retention that was changed is set back. TEMPORAL_ADDRESS names the server.
set -eu
: "${TEMPORAL_ADDRESS:?the address of Temporal must be set}"
: "${TEMPORAL_NAMESPACE:?the namespace must be set}"

# within the policy's `personal_days`, since a history holds a lead as it was read; longer than any source redelivers
retention=30d

attributes='LeadproofTenant=Keyword
LeadproofSource=Keyword
LeadproofOutcome=Keyword
LeadproofReviewQueue=Keyword
LeadproofMutationKeys=KeywordList
LeadproofMutationStatus=KeywordList'

cli() {
    temporal operator "$@" --disable-config-file
}

# A server that has just started answers later, and one that has just made a namespace does not know it yet.
patiently() {
    tries=60
    until said=$("$@" 2>&1); do
        tries=$((tries - 1))
        if [ "$tries" -eq 0 ]; then
            printf 'namespace.sh: %s\n' "$said" >&2
            exit 1
        fi
        sleep 1
    done
}

ensured() {
    if cli namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
        cli namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"
    else
        cli namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"
    fi
}

listed() {
    known=$(cli search-attribute list --namespace "$TEMPORAL_NAMESPACE" --output json) || return
    for attribute in $attributes; do
        case $known in *"\"${attribute%=*}\""*) ;; *) return 1 ;; esac
    done
}

patiently cli cluster health
patiently ensured
# one at a time: of several in one call only the first is registered, though the answer is that all were (tried, 1.32.0)
for attribute in $attributes; do
    patiently cli search-attribute create \
        --namespace "$TEMPORAL_NAMESPACE" --name "${attribute%=*}" --type "${attribute#*=}"
done
patiently listed
printf 'the namespace %s keeps closed runs for %s and has its search attributes\n' "$TEMPORAL_NAMESPACE" "$retention"
