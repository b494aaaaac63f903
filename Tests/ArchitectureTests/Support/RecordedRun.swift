// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation

/// What the runner of the tests says and records in one attempt, in the form that Swift 6.3 has for it.
struct Recording {
    var log = ""
    var events: [String] = []
    var status = 0
    /// Says nothing more, and doesn't end.
    var hangs = false

    private static func id(_ name: String) -> String { "LibTests.ASuite\\/\(name)()\\/T.swift:14:4" }

    private mutating func declare(_ name: String) {
        let place = #"{"_filePath":"\/tmp\/T.swift","column":4,"fileID":"LibTests\/T.swift","line":14}"#
        let test = #""displayName":"Sentence \#(name)","id":"\#(Self.id(name))","kind":"function","name":"\#(name)()""#
        events.append(#"{"kind":"test","payload":{\#(test),"sourceLocation":\#(place)},"version":0}"#)
    }

    private mutating func add(_ kind: String, _ test: String?, more: String = #""messages":[]"#) {
        let instant = #""instant":{"absolute":\#(events.count),"since1970":0}"#
        let test = test.map { #","testID":"\#(Self.id($0))""# } ?? ""
        events.append(#"{"kind":"event","payload":{\#(instant),"kind":"\#(kind)",\#(more)\#(test)},"version":0}"#)
    }

    private mutating func addIssue(_ test: String?, file: String = "LibTests/T.swift", isKnown: Bool = false) {
        let texts = #""messages":[{"text":"Expectation failed: a == b"},{"text":"said\nmore"}]"#
        let place = #"{"column":37,"fileID":"\#(file)","line":14}"#
        add("issueRecorded", test, more: #""issue":{"isKnown":\#(isKnown),"sourceLocation":\#(place)},\#(texts)"#)
        log += "✘ Test recorded an issue at T.swift:14:37: Expectation failed: a == b\n"
    }

    private mutating func close(_ word: String, count: Int) {
        add("runEnded", nil)
        log += "✔ Test run with \(count) test\(count == 1 ? "" : "s") in 1 suite \(word) after 0.1 seconds.\n"
    }

    /// A run in which these tests pass, one of them with a known issue.
    static func passing(_ names: [String], status: Int = 0) -> Recording {
        var recording = Recording(status: status)
        for name in names {
            recording.declare(name)
            recording.add("testStarted", name)
            recording.addIssue(name, isKnown: true)
            recording.add("testEnded", name)
        }
        recording.close("passed", count: names.count)
        return recording
    }

    /// A run in which these tests fail, and two others pass; `unknown` is the file of an issue that has no test.
    static func failing(_ names: [String], unknown: String? = nil) -> Recording {
        var recording = Recording(status: 1)
        for name in ["good", "slow"] + names {
            recording.declare(name)
            recording.add("testStarted", name)
        }
        for name in names { recording.addIssue(name) }
        if let unknown { recording.addIssue(nil, file: unknown) }
        for name in ["good", "slow"] + names { recording.add("testEnded", name) }
        recording.close("failed", count: names.count + 2)
        return recording
    }

    static func crashing(in name: String, after others: [String]) -> Recording {
        var recording = Recording(status: 1)
        for other in others { recording.declare(other) }
        recording.declare(name)
        for other in others {
            recording.add("testStarted", other)
            recording.add("testEnded", other)
        }
        recording.add("testStarted", name)
        recording.events.append(#"{"kind":"event","payload":{"inst"#)
        recording.log = "T.swift:22: Fatal error: boom\n\nThread 4 \"worker\" crashed:\n\n0 0x1 crash() in tests\n"
        return recording
    }

    static func silent(in name: String) -> Recording {
        var recording = Recording(hangs: true)
        recording.declare(name)
        recording.add("testStarted", name)
        return recording
    }
}

/// A run of `scripts/more/test-run`, and what it left.
struct RecordedRun {
    var status: Int32
    var report: String
    var failedOnce: String
    /// The arguments of each attempt.
    var arguments: [String]

    var attempts: Int { arguments.count }

    /// Plays one recording for each attempt.
    private static let player = #"""
        #!/bin/sh
        folder=$(dirname "$0")
        echo "$*" >>"$folder/arguments"
        attempt=$(($(wc -l <"$folder/arguments")))
        while [ "$1" != --event-stream-output-path ]; do shift; done
        cp "$folder/$attempt.events" "$2"
        cat "$folder/$attempt.log"
        . "$folder/$attempt.end"
        """#

    static func of(
        _ recordings: [Recording],
        _ arguments: [String] = ["--skip-build"],
        silence: String = "600",
        isBundle: Bool = false
    ) async throws -> RecordedRun {
        var files = ["swift": player, "logs/": ""]
        for (index, recording) in recordings.enumerated() {
            files["\(index + 1).events"] = recording.events.joined(separator: "\n")
            files["\(index + 1).log"] = recording.log
            files["\(index + 1).end"] = recording.hangs ? "exec sleep 600" : "exit \(recording.status)"
        }
        return try await withTestFolder(files) { folder in
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "swift")
            let path = folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
            let script = Repository.root.appending(path: "scripts/more/test-run").path(percentEncoded: false)
            let bundle = "DUPLEX_TEST_BUNDLE=" + (isBundle ? folder + "swift" : "")
            let command = [
                "env", "PATH=\(path)", "DUPLEX_TEST_SILENCE=\(silence)", bundle, script, folder + "logs", "epoll",
            ]
            let run = try await ProgramRun(command + arguments)
            func text(_ name: String) -> String { (try? String(contentsOfFile: folder + name, encoding: .utf8)) ?? "" }
            return RecordedRun(
                status: run.status,
                report: text("logs/epoll.report"),
                failedOnce: text("logs/failed-once"),
                arguments: text("arguments").split(separator: "\n").map { String($0) }
            )
        }
    }
}
