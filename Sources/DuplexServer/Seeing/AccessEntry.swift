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
    private var isRead: Bool { request.head.withTarget { !$0.isEmpty } }

    /// Whether that is so of this request, which may hold a secret there.
    private var hasQuery: Bool { showsQuery && request[SecretRequest.self] != true }

    var target: String {
        hasQuery ? request.head.target : String(request.head.target.prefix { $0 != "?" })
    }

    private var address: String? {
        guard let address = request.remoteAddress, address.path == nil else { return nil }
        return address.host
    }

    /// Appends the combined format of Apache, in which `-` stands for what isn't known.
    ///
    /// Written piece by piece into the bytes of the line: each request of a busy server comes by here.
    func appendCombined(at time: LogTime, to line: inout [UInt8]) {
        line.append(utf8: address ?? "-")
        line.append(utf8: " - ")
        let user = request.user ?? ""
        line.append(utf8: user.isEmpty ? "-" : LogText.escaped(user, isWord: true))
        line.append(utf8: " [")
        line.append(utf8: time.common)
        line.append(utf8: "] \"")
        appendRequestLine(to: &line)
        line.append(utf8: "\" ")
        if let status = outcome.status { line.append(decimal: status.code) } else { line.append(UInt8(ascii: "-")) }
        line.append(UInt8(ascii: " "))
        if outcome.bytesSent > 0 { line.append(decimal: outcome.bytesSent) } else { line.append(UInt8(ascii: "-")) }
        appendQuoted(.referer, to: &line)
        appendQuoted(.userAgent, to: &line)
    }

    private func appendRequestLine(to line: inout [UInt8]) {
        guard isRead else {
            line.append(UInt8(ascii: "-"))
            return
        }
        // Tokens have neither quotes nor backslashes.
        line.append(utf8: request.method.rawValue)
        line.append(UInt8(ascii: " "))
        request.head.withTarget { target in
            let query = hasQuery ? nil : target.firstOffset(of: UInt8(ascii: "?"), from: 0)
            LogText.append(target.extracting(0..<(query ?? target.byteCount)), to: &line)
        }
        line.append(utf8: request.head.version == .http11 ? " HTTP/1.1" : " \(request.head.version)")
    }

    private func appendQuoted(_ name: HTTPField.Name, to line: inout [UInt8]) {
        line.append(utf8: " \"")
        request.head.withValue(of: name) { value in
            if let value { LogText.append(value, to: &line) } else { line.append(UInt8(ascii: "-")) }
        }
        line.append(UInt8(ascii: "\""))
    }

    /// An object of JSON in one line, without what isn't known.
    func json(at time: LogTime) -> String {
        var members = JSONText.Members()
        members.add("time", time.standard)
        members.add("address", address)
        members.add("user", request.user)
        if isRead {
            members.add("method", request.method.rawValue)
            members.add("host", request.head.host)
            members.add("target", target)
            members.add("protocol", "\(request.head.version)")
        }
        members.add("route", outcome.route)
        members.add("status", outcome.status?.code)
        members.add("received_bytes", outcome.bytesReceived)
        members.add("sent_bytes", outcome.bytesSent)
        members.add("duration_us", Int(outcome.duration.wholeNanoseconds / 1_000))
        if outcome.isIncomplete { members.add("cut", true) }
        members.add("request_id", request[RequestID.self])
        members.add("referer", request.head.value(of: .referer))
        members.add("user_agent", request.head.value(of: .userAgent))
        return JSONText.object(members.all).text
    }

    /// For swift-log; handlers write it as it is.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "bytes": "\(outcome.bytesSent)",
            "duration": "\(outcome.duration.rounded)",
        ]
        func add(_ name: String, _ text: String?) {
            if let text { metadata[name] = "\(LogText.escaped(text))" }
        }
        add("address", address)
        add("user", request.user)
        if isRead {
            add("method", request.method.rawValue)
            add("target", target)
        }
        add("route", outcome.route)
        add("status", outcome.status.map { "\($0.code)" })
        add("request_id", request[RequestID.self])
        if outcome.isIncomplete { metadata["cut"] = "true" }
        return metadata
    }
}
