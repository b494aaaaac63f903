// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// The lines that a response begins with: its status, Date and Content-Type.
///
/// Many responses have the same ones, as long as it is the same second: a server makes them once.
package final class ResponseStart: Sendable {
    /// The status; a final one, 200 to 999, for a response that has a body.
    package let status: HTTPResponse.Status
    /// The value of Content-Type; nil for none.
    package let mediaType: String?
    let lines: [UInt8]
    let hasDate: Bool

    /// Makes the lines.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - mediaType: the value of Content-Type; nil for none.
    ///   - date: the value of Date; nil for none (RFC 9110 section 6.6.1). Nothing here reads a clock.
    package init(_ status: HTTPResponse.Status, mediaType: String? = nil, date: String? = nil) {
        self.status = status
        self.mediaType = mediaType
        var lines: [UInt8] = []
        ResponseHead.appendStatusLine(status, to: &lines)
        if let date { HeadWriter.append("Date", date, to: &lines) }
        if let mediaType { HeadWriter.append("Content-Type", mediaType, to: &lines) }
        self.lines = lines
        hasDate = date != nil
    }

    /// Whether these are the lines of such a response; a status is its reason phrase as well.
    package func isOf(_ status: HTTPResponse.Status, _ mediaType: String?) -> Bool {
        self.status == status && self.status.reasonPhrase == status.reasonPhrase && self.mediaType == mediaType
    }

    /// The lines beside these fields: a Date of the app's takes the place of the server's.
    func lines(beside headers: HTTPFields) -> [UInt8] {
        if !hasDate || headers.isEmpty || !headers.contains(.date) { return lines }
        return ResponseStart(status, mediaType: mediaType).lines
    }
}

/// Fields that many responses have, with the lines that they are on the wire.
package final class PreparedFields: Sendable {
    /// The fields.
    package let headers: HTTPFields
    let lines: [UInt8]

    /// Makes the lines.
    ///
    /// - Parameter headers: none of those that are for the response at hand to decide: Date, Upgrade, and those that concern
    ///   framing.
    package init(_ headers: HTTPFields) {
        precondition(!headers.contains(.date) && !headers.contains(.upgrade), "Date and Upgrade aren't known before.")
        self.headers = headers
        var lines: [UInt8] = []
        for field in headers where !FramingFields.contains(field.name) { HeadWriter.append(field, to: &lines) }
        self.lines = lines
    }
}

/// How the bytes of a response's body go on the wire (RFC 9112 section 6).
enum ResponseFraming: Sendable, Hashable {
    /// There is no body, whatever the app writes: in answer to HEAD, and with 204 and 304.
    case none
    /// Content-Length: that many bytes are still to come.
    case length(left: Int)
    /// In chunks.
    case chunked
    /// Up to the end of the connection, for clients that know no chunks.
    case untilClose
}

/// How long the body of a response is.
package enum ResponseLength: Sendable, Hashable {
    /// That many bytes.
    case bytes(Int)
    /// Known when it has ended.
    case unknown
}

/// The fields of a response that the session alone writes (RFC 9110 section 7.6.1, RFC 9112 section 6).
enum FramingFields {
    /// Whether a field of that name is the connection's, and not the app's to write.
    ///
    /// `Upgrade` stays: it belongs to 426, and Connection is made to name it.
    static func contains(_ name: HTTPField.Name) -> Bool {
        switch name.canonicalName {
        case "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "te": true
        default: false
        }
    }

    /// The length that an app's Content-Length gives, if it is one number.
    static func length(in headers: HTTPFields) -> Int? {
        let values = headers[values: .contentLength]
        return values.count == 1 ? Grammar.decimal(values[0].utf8) : nil
    }
}
