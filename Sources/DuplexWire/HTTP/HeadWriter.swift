// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

extension RequestHead {
    /// Appends the head as it goes on the wire, with the empty line that ends it (RFC 9112 section 3).
    ///
    /// A control character in a field's value would be written as a space, so that no value can begin a line of its
    /// own. The parts of a Cookie are joined into one line, as HTTP/1.1 has it (RFC 6265 section 5.4).
    ///
    /// - Parameter bytes: What the head is appended to.
    public func write(to bytes: inout [UInt8]) {
        HeadWriter.append(method.rawValue, to: &bytes)
        bytes.append(Grammar.space)
        HeadWriter.append(target, to: &bytes)
        bytes.append(Grammar.space)
        HeadWriter.append(version.description, to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
        HeadWriter.append(headers, to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
    }
}

extension ResponseHead {
    /// Appends the head as it goes on the wire, with the empty line that ends it (RFC 9112 section 4).
    ///
    /// A control character in a field's value would be written as a space, so that no value can begin a line of its
    /// own.
    ///
    /// - Parameters:
    ///   - bytes: What the head is appended to.
    ///   - date: The value of Date, unless the fields have one; nil for none. Nothing here reads a clock.
    public func write(to bytes: inout [UInt8], date: String? = nil) {
        if version == .http11 {
            Self.appendStatusLine(status, to: &bytes)
        } else {
            HeadWriter.append(version.description, to: &bytes)
            bytes.append(Grammar.space)
            HeadWriter.append(status, to: &bytes)
            HeadWriter.appendLineEnd(to: &bytes)
        }
        if let date, !headers.contains(.date) { HeadWriter.append("Date", date, to: &bytes) }
        HeadWriter.append(headers, to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
    }

    /// Appends the first line of a response in HTTP/1.1.
    static func appendStatusLine(_ status: HTTPResponse.Status, to bytes: inout [UInt8]) {
        if status.code == 200 && status.reasonPhrase == "OK" {
            bytes.append(utf8: "HTTP/1.1 200 OK\r\n")
            return
        }
        bytes.append(utf8: "HTTP/1.1 ")
        HeadWriter.append(status, to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
    }
}

/// The pieces of a head on the wire.
package enum HeadWriter {
    package static func appendLineEnd(to bytes: inout [UInt8]) {
        bytes.append(Grammar.carriageReturn)
        bytes.append(Grammar.lineFeed)
    }

    /// Appends text that can't leave its line: controls other than the tab become spaces.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        var index = bytes.count
        bytes.append(utf8: text)
        while true {
            index = bytes.span.raw.endOfText(from: index)
            if index == bytes.count { return }
            bytes[index] = Grammar.space
        }
    }

    /// Appends a line; its name is a token, in which there is no control.
    package static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        bytes.append(utf8: name)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(Grammar.space)
        append(value, to: &bytes)
        appendLineEnd(to: &bytes)
    }

    static func append(_ field: HTTPField, to bytes: inout [UInt8]) {
        append(field.name.rawName, field.value, to: &bytes)
    }

    /// Appends a line that ends in a number.
    static func append(_ start: String, number: Int, to bytes: inout [UInt8]) {
        bytes.append(utf8: start)
        bytes.append(decimal: number)
        appendLineEnd(to: &bytes)
    }

    static func append(hexadecimal number: Int, to bytes: inout [UInt8]) {
        var divisor = 1
        while number / divisor >= 16 { divisor *= 16 }
        while divisor > 0 {
            let digit = UInt8(number / divisor % 16)
            bytes.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
            divisor /= 16
        }
    }

    package static func append(_ headers: HTTPFields, to bytes: inout [UInt8]) {
        for field in headers where field.name != .cookie { append(field.name.rawName, field.value, to: &bytes) }
        if let cookie = headers[.cookie] { append("Cookie", cookie, to: &bytes) }
    }

    /// Appends the status in three digits, and its reason in the one encoding that reasons have.
    static func append(_ status: HTTPResponse.Status, to bytes: inout [UInt8]) {
        for divisor in [100, 10, 1] { bytes.append(0x30 + UInt8(status.code / divisor % 10)) }
        bytes.append(Grammar.space)
        for scalar in status.reasonPhrase.unicodeScalars {
            let byte = UInt8(exactly: scalar.value) ?? UInt8(ascii: "?")
            bytes.append(Grammar.isControl(byte) ? Grammar.space : byte)
        }
    }
}
