// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Logging

/// What an access log says of one request.
struct AccessEntry: Sendable {
    let request: Request
    let outcome: RequestOutcome
    /// Whether the query is among it.
    let showsQuery: Bool

    /// Whether the head could be read; one that couldn't is shown as one of nothing.
    private var isRead: Bool { !request.head.target.isEmpty }

    private var target: String {
        showsQuery ? request.head.target : String(request.head.target.prefix { $0 != "?" })
    }

    private var address: String? {
        guard let address = request.remoteAddress, address.path == nil else { return nil }
        return address.host
    }

    /// The combined format of Apache, in which `-` stands for what isn't known.
    func combined(at time: LogTime) -> String {
        let user = request[AuthenticatedUser.self].map { LogText.escaped($0, isWord: true) } ?? "-"
        let line = isRead ? "\(request.method.rawValue) \(target) \(request.head.version)" : "-"
        let status = outcome.status.map { "\($0.code)" } ?? "-"
        let size = outcome.sentBytes > 0 ? "\(outcome.sentBytes)" : "-"
        let words = [address ?? "-", "-", user.isEmpty ? "-" : user, "[\(time.common)]", quoted(line), status, size]
        let fields = [request.fields[.referer], request.fields[.userAgent]].map { quoted($0 ?? "-") }
        return (words + fields).joined(separator: " ")
    }

    private func quoted(_ text: String) -> String { "\"\(LogText.escaped(text))\"" }

    /// An object of JSON in one line, without what isn't known.
    func json(at time: LogTime) -> String {
        var members = JSONText.Members()
        members.add("time", time.standard)
        members.add("address", address)
        members.add("user", request[AuthenticatedUser.self])
        if isRead {
            members.add("method", request.method.rawValue)
            members.add("host", request.head.host)
            members.add("target", target)
            members.add("protocol", "\(request.head.version)")
        }
        members.add("route", outcome.route)
        members.add("status", outcome.status?.code)
        members.add("received_bytes", outcome.receivedBytes)
        members.add("sent_bytes", outcome.sentBytes)
        members.add("duration_us", Int(outcome.duration.wholeNanoseconds / 1_000))
        if outcome.isCut { members.add("cut", true) }
        members.add("request_id", request[RequestID.self])
        members.add("referer", request.fields[.referer])
        members.add("user_agent", request.fields[.userAgent])
        return JSONText.object(members.all).text
    }

    /// For swift-log; handlers write it as it is.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "bytes": "\(outcome.sentBytes)",
            "duration": "\(outcome.duration.rounded)",
        ]
        func add(_ name: String, _ text: String?) {
            if let text { metadata[name] = "\(LogText.escaped(text))" }
        }
        add("address", address)
        add("user", request[AuthenticatedUser.self])
        if isRead {
            add("method", request.method.rawValue)
            add("target", target)
        }
        add("route", outcome.route)
        add("status", outcome.status.map { "\($0.code)" })
        add("id", request[RequestID.self])
        if outcome.isCut { metadata["cut"] = "true" }
        return metadata
    }
}
