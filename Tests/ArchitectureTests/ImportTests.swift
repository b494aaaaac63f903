// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Rooms import only what their row names")
struct ImportTests {
    /// What each target may import; the same table is in docs/Rooms.md.
    ///
    /// `Glibc` stands for the C library, `Darwin` for that of macOS.
    private static let allowed: [String: Set<String>] = [
        "CDuplexSystem": [],
        "CDuplexOpenSSL": [],
        "CDuplexISAL": [],
        "CDuplexZlib": [],
        "CDuplexExpat": [],
        "CDuplexQRCode": [],
        "CDuplexPages": [],
        "DuplexBase": [],
        "DuplexSockets": [
            "DuplexBase", "CDuplexSystem", "CDuplexOpenSSL", "Glibc", "Darwin", "Dispatch", "Synchronization",
            "Logging",
            "DequeModule",
        ],
        "DuplexWire": ["DuplexBase", "HTTPTypes", "Synchronization"],
        "DuplexDeflate": ["DuplexBase", "DuplexWire", "CDuplexISAL", "CDuplexZlib"],
        "DuplexWebSockets": [
            "DuplexSockets", "DuplexWire", "DuplexDeflate", "CDuplexOpenSSL", "Synchronization",
            "HTTPTypes", "Logging", "DequeModule", "CoreMetrics", "Tracing",
        ],
        "DuplexDelegates": [
            "DuplexSockets", "DuplexWire", "DuplexWebSockets", "Dispatch", "Synchronization", "HTTPTypes",
            "DequeModule",
        ],
        "DuplexFoundation": [
            "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexDelegates", "DuplexServer", "DuplexTopics",
            "HTTPTypes", "FoundationEssentials", "Foundation", "FoundationNetworking", "Dispatch",
        ],
        "DuplexServer": [
            "CDuplexSystem", "DuplexSockets", "DuplexWire", "DuplexDeflate", "DuplexWebSockets", "Glibc", "Darwin",
            "Synchronization", "HTTPTypes", "Logging", "DequeModule", "ServiceLifecycle", "UnixSignals", "CoreMetrics",
            "Tracing",
        ],
        "DuplexMustache": ["DuplexWire", "DuplexServer", "Foundation", "HTTPTypes", "Mustache", "Synchronization"],
        "DuplexSharing": [
            "CDuplexExpat", "CDuplexPages", "DuplexSockets", "DuplexWire", "DuplexDeflate", "DuplexWebSockets",
            "DuplexServer", "DuplexFoundation", "Foundation", "Glibc", "Darwin", "Synchronization", "HTTPTypes",
            "Logging",
            "GRDB",
        ],
        "DuplexInspector": [
            "CDuplexSystem", "DuplexSockets", "DuplexWire", "DuplexDeflate", "DuplexWebSockets", "DuplexFoundation",
            "DuplexServer", "DuplexSharing", "Glibc", "Darwin", "Foundation", "Synchronization", "HTTPTypes", "Logging",
            "DequeModule", "GRDB", "GRDBSQLite", "Histogram", "UIKit", "AppKit",
        ],
        "DuplexTopics": [
            "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexServer", "FoundationEssentials", "Foundation",
            "Synchronization", "HTTPTypes", "Logging", "DequeModule", "ServiceLifecycle", "CoreMetrics",
        ],
        "DuplexTesting": [
            "DuplexBase", "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexServer", "FoundationEssentials",
            "Foundation", "Synchronization", "HTTPTypes",
        ],
        "DuplexCommand": [
            "CDuplexQRCode", "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexServer", "DuplexSharing",
            "DuplexInspector", "DuplexTopics", "Glibc", "Darwin", "Dispatch", "Foundation", "Synchronization",
            "HTTPTypes", "Logging",
            "ArgumentParser", "Configuration", "Histogram",
        ],
    ]

    private static func faults(_ files: [SourceFile]) -> [String] {
        files.flatMap { file in
            file.imports.filter { allowed[file.target]?.contains($0.module) != true }
                .map { "\(file.path):\($0.line): \(file.target) may not import \($0.module)" }
        }
    }

    @Test("No source imports anything else")
    func importsAreAllowed() {
        #expect(Self.faults(Repository.sources) == [])
    }

    @Test("Every folder of Sources has a row")
    func everyTargetHasARow() {
        let folders = Set(Repository.paths(in: "Sources").compactMap { $0.split(separator: "/").dropFirst().first })
        #expect(Set(folders.map { String($0) }) == Set(Self.allowed.keys))
    }

    @Test("docs/Rooms.md has the same table")
    func documentAgrees() throws {
        let document = Markdown(try Repository.text(of: "docs/Rooms.md"))
        let rows = document.table(under: "## Rooms").map { row in
            (Markdown.quoted(row.first ?? ""), Set(Markdown.quoted(row.last ?? "")))
        }
        #expect(rows.allSatisfy { $0.0.count == 1 })
        let table = Dictionary(rows.map { ($0.0.first ?? "", $0.1) }) { first, _ in first }
        #expect(table == Self.allowed)
    }

    @Test("An import that no row names is found")
    func findsFaults() {
        let file = SourceFile(path: "Sources/DuplexWire/A.swift", text: "import HTTPTypes\npublic import Foundation\n")
        #expect(Self.faults([file]) == ["Sources/DuplexWire/A.swift:2: DuplexWire may not import Foundation"])
    }
}
