"""Records of an MCP-OCS memory, of each shape that a real one holds (docs/reference/migrations.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CONVERSATION: dict[str, Any] = {
    "sessionId": "pods-123",
    "domain": "openshift",
    "timestamp": 1755088882347,
    "userMessage": "Get pods in all namespaces",
    "assistantResponse": "Found 21 pods: 20 running, 1 pending",
    "context": ["pods", "namespace"],
    "tags": ["read_operation", "Pods ", "pods"],
}
RAN: dict[str, Any] = {
    "sessionId": "health-7",
    "timestamp": 1755184861493,
    "userMessage": 'Tool oc_diagnostic_cluster_health executed with args: {"max":10}',
    "assistantResponse": '{"cluster":{"status":"connected"}}',
    "context": [],
    "tags": ["tool:oc_diagnostic_cluster_health", "domain:openshift", "environment:prod", "domain:openshift"],
}
INCIDENT: dict[str, Any] = {
    "incidentId": "auth-failure",
    "domain": "operations",
    "timestamp": 1755181509153,
    "symptoms": ["Unauthorized access"],
    "rootCause": "The token had expired",
    "resolution": "Log in again",
    "affectedResources": ["cluster"],
    "diagnosticSteps": ["Manual incident storage"],
    "tags": ["manual_entry", "test"],
    "environment": "test",
}
RUN_LOG: dict[str, Any] = {
    "incidentId": "tool-execution-undefined-1755034331456",
    "domain": "openshift",
    "timestamp": 1755034331456,
    "symptoms": [],
    "affectedResources": [],
    "diagnosticSteps": ["Executed oc_read_get_pods"],
    "tags": ["execution_success", "prod"],
}


def make(root: Path) -> Path:
    for place, held in (
        ("health-7.json", [RAN, {**RAN, "timestamp": RAN["timestamp"] + 1}]),
        ("default/conversations/pods-123_1755088882347.json", CONVERSATION),
        ("default/operational/auth-failure_1755181509153.json", INCIDENT),
        ("default/operational/tool-execution-undefined_1.json", RUN_LOG),
    ):
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(json.dumps(held, indent=2))
    return root
