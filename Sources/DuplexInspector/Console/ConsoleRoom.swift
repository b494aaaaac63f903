// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Foundation
import Logging

/// The part of the inspector that shows what the process writes and logs.
struct ConsoleRoom: InspectorRoom {
    let console: InspectorConsole
    let page = "console"

    func add(to routes: inout InspectorRoutes) {
        let entries = console.entries
        routes.watch("console") { parameters in
            do throws(ConsoleFilter.Wrong) {
                let filter = try ConsoleFilter(
                    level: parameters["level"],
                    text: parameters["text"],
                    kinds: parameters["kinds"]
                )
                return LiveRingTopic(entries) { $0.items.filter(filter.wants).map(\.shown) }
            } catch {
                throw LiveRefusal(error.detail)
            }
        }
        routes.get("/console/history") { request in
            let query = try request.query
            do throws(ConsoleFilter.Wrong) {
                let filter = try ConsoleFilter(level: query["level"], text: query["text"], kinds: query["kinds"])
                let text = entries.all.filter(filter.wants).map { $0.line + "\n" }.joined()
                return InspectorAnswer.attachment("text/plain; charset=utf-8", named: "console.txt", Array(text.utf8))
            } catch {
                throw Problem(.badRequest, error.detail)
            }
        }
    }
}

/// Which lines of the console somebody wants.
struct ConsoleFilter: Equatable, Sendable {
    /// The lowest level of the log; streams have none.
    var level = Logger.Level.trace
    /// What the text, the label or the source has in it, whatever the case; empty for all.
    var text = ""
    var kinds = Set(ConsoleEntry.Kind.allCases)

    /// The wrong word in a wish.
    struct Wrong: Error {
        let detail: String
    }

    /// - Parameters:
    ///   - level: such as `warning`; all where there is none.
    ///   - text: what is to be in the line.
    ///   - kinds: such as `log,output`; all where there are none.
    /// - Throws: ``Wrong`` for a level or a kind that there isn't.
    init(level: String? = nil, text: String? = nil, kinds: String? = nil) throws(Wrong) {
        if let level, !level.isEmpty {
            guard let known = Logger.Level(rawValue: level) else {
                throw Wrong(detail: "There is no level “\(level)”.")
            }
            self.level = known
        }
        self.text = text ?? ""
        guard let kinds, !kinds.isEmpty else { return }
        self.kinds = []
        for name in kinds.split(separator: ",") {
            guard let kind = ConsoleEntry.Kind(rawValue: String(name)) else {
                throw Wrong(detail: "There is no kind of lines “\(name)”.")
            }
            self.kinds.insert(kind)
        }
    }

    func wants(_ entry: ConsoleEntry) -> Bool {
        guard kinds.contains(entry.kind), entry.log.map({ $0.level >= level }) ?? true else { return false }
        if text.isEmpty { return true }
        let places = [entry.text, entry.log?.label, entry.log?.source].compactMap { $0 }
        return places.contains { $0.range(of: text, options: .caseInsensitive) != nil }
    }
}
