// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The lines that a response begins with: its status, Date and Content-Type.
///
/// Many responses have the same ones, as long as it is the same second: a server makes them once.
public final class ResponseStart: Sendable {
    /// The status; a final one, 200 to 999, for a response that has a body.
    public let status: HTTPResponse.Status
    /// The value of Content-Type; nil for none.
    public let mediaType: String?
    let lines: [UInt8]
    let hasDate: Bool

    /// Makes the lines.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - mediaType: the value of Content-Type; nil for none.
    ///   - date: the value of Date; nil for none (RFC 9110 section 6.6.1). Nothing here reads a clock.
    public init(_ status: HTTPResponse.Status, mediaType: String? = nil, date: String? = nil) {
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
    func lines(beside fields: HTTPFields) -> [UInt8] {
        if !hasDate || fields.isEmpty || !fields.contains(.date) { return lines }
        return ResponseStart(status, mediaType: mediaType).lines
    }
}
