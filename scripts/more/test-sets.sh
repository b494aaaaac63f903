# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
# shellcheck shell=bash
# shellcheck disable=SC2034 # Those that source this use them.
#
# Sets of tests, as expressions for --filter and --skip.

# Tests that drive a browser, step by step as a person would: one page after the other, where nothing else of the process is shown
# on it, and without the load of a thousand other tests, beside which the browser would wait for longer than any step may take. So
# are the snippets that serve, each in a network of its own: while the kernel makes and takes down so many, other tests' networks
# wait.
alone="(Hostile|Files|Connections|Console|Databases|Machine|Recordings)PageTests|InspectedAppTests|ProxiedInspectorTests"
alone+="|SeveralViewersTests|ServedInspectorTests|UploaderTests|BrowserSafetyTests|BrowserUploadTests|ClusterPageTests|SnippetServersTests"
# What talks to the built command, whichever it is.
on_command="DuplexCommandTests\.(Serve|Inspect|Connect|Check|Ping|Bench|Cert|Subscribe|Publish|StreamServer)Tests|ServedInspectorTests"
# What sits on the poller. All else sees the loop above it, which is the same with either; some of that once more, as a
# server and a client see it.
of_poller="DuplexSocketsTests|WebSocketServingTests|WebSocketSendingTests|HTTPConnectionTests|ServerLoopTests|ScheduleTests.*ports"
# What only computes: some targets, and the rules of the others.
computing="^(ArchitectureTests|DuplexBaseTests|DuplexWireTests|DuplexDeflateTests|DuplexMustacheTests)\."
computing+="|\.($(find Tests -path '*/Rules/*Tests.swift' -exec basename {} .swift \; | LC_ALL=C sort | paste -sd '|' -))/"

# How many tests run at once: a thousand would share the threads of a few cores, and those that wait for an answer in time would
# get none.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((3 * $(getconf _NPROCESSORS_ONLN)))
