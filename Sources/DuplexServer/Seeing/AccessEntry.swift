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
    ///
    /// Written piece by piece into one text: each request of a busy server comes by here.
    func combined(at time: LogTime) -> String {
        var text = ""
        text.reserveCapacity(256)
        text += address ?? "-"
        text += " - "
        let user = request[AuthenticatedUser.self] ?? ""
        text += user.isEmpty ? "-" : LogText.escaped(user, isWord: true)
        text += " ["
        text += time.common
        text += "] \""
        appendRequestLine(to: &text)
        text += "\" "
        text += outcome.status.map { String($0.code) } ?? "-"
        text += " "
        text += outcome.sentBytes > 0 ? String(outcome.sentBytes) : "-"
        for field in [request.fields[.referer], request.fields[.userAgent]] {
            text += " \""
            text += field.map { LogText.escaped($0) } ?? "-"
            text += "\""
        }
        return text
    }

    private func appendRequestLine(to text: inout String) {
        guard isRead else {
            text += "-"
            return
        }
        text += LogText.escaped(request.method.rawValue)
        text += " "
        text += LogText.escaped(target)
        text += request.head.version == .http11 ? " HTTP/1.1" : " \(request.head.version)"
    }

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
