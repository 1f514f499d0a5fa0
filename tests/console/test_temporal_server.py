from __future__ import annotations

import uuid
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, RegisterNamespaceRequest
from temporalio.testing import WorkflowEnvironment

from console.temporal_server import RETENTION, SEARCH_ATTRIBUTES, prepare
from leadproof.settings import load
from tests.support.house import eventually_answered


async def test_a_namespace_of_an_older_version_is_brought_up_to_date_and_stays_so(
    temporal: WorkflowEnvironment,
) -> None:
    client, name = temporal.client, f"older-{uuid.uuid4().hex[:8]}"
    day = Duration(seconds=int(timedelta(days=1).total_seconds()))
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=day)
    )
    settings = load({"LEADPROOF_TEMPORAL_NAMESPACE": name}, dotenv=None)
    address = client.service_client.config.target_host

    async def prepared() -> bool:
        return prepare(settings, address=address)

    await eventually_answered(prepared)  # a namespace that was just made is not known at once
    assert await prepared()
    listed = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace=name))
    assert set(listed.custom_attributes) == set(SEARCH_ATTRIBUTES)
    described = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=name))
    hours = described.config.workflow_execution_retention_ttl.ToTimedelta() / timedelta(hours=1)
    assert f"{hours:.0f}h" == RETENTION


def test_a_server_that_does_not_answer_is_not_prepared() -> None:
    assert not prepare(load({}, dotenv=None), address="127.0.0.1:1")
