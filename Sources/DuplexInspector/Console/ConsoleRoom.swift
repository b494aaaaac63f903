// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire

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
            let query = try request.queryItems
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
