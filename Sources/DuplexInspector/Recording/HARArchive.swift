// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation

/// An HTTP Archive as it is written; ``HARDocument`` is what is read of one.
struct HARArchive: Codable {
    var log: Log

    struct Log: Codable {
        var version = "1.2"
        var creator = Creator()
        var pages: [String] = []
        var entries: [Entry]
    }

    struct Creator: Codable {
        var name = "Duplex"
        var version = "1"
    }

    struct Entry: Codable {
        var startedDateTime: String
        /// In milliseconds, as are the timings.
        var time: Double
        var request: Request
        var response: Response
        var cache: [String: String] = [:]
        var timings: Timings
        var serverIPAddress: String?
        var connection: String?
        var resourceType: String
        var route: String?
        var error: String?
        var messages: [Message]?
        var closeCode: Int?
        var closeReason: String?
        /// Whether a WebSocket is open still; left out if not.
        var isOpen: Bool?

        enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, connection
            case resourceType = "_resourceType"
            case route = "_route"
            case error = "_error"
            case messages = "_webSocketMessages"
            case closeCode = "_closeCode"
            case closeReason = "_closeReason"
            case isOpen = "_isOpen"
        }
    }

    struct Timings: Codable {
        var send: Double
        var wait: Double
        var receive: Double
    }

    struct Pair: Codable {
        var name: String
        var value: String
    }

    struct Request: Codable {
        var method: String
        var url: String
        var httpVersion: String
        var cookies: [Pair]
        var headers: [Pair]
        var queryString: [Pair]
        /// Unknown, as that of a response.
        var headersSize = -1
        var bodySize: Int
        var postData: Posted?
    }

    struct Posted: Codable {
        var mimeType: String
        var text: String
        var encoding: String?

        enum CodingKeys: String, CodingKey {
            case mimeType, text
            case encoding = "_encoding"
        }
    }

    struct Response: Codable {
        var status: Int
        var statusText: String
        var httpVersion: String
        var cookies: [Pair]
        var headers: [Pair]
        var content: Content
        var redirectURL: String
        var headersSize = -1
        var bodySize: Int
    }

    struct Content: Codable {
        var size: Int
        var mimeType: String
        var text: String?
        var encoding: String?
        var comment: String?
    }

    struct Message: Codable {
        var type: String
        /// In seconds since 1970.
        var time: Double
        var opcode: Int
        var data: String
        var encoding: String?
        /// How many bytes there were, if not all were kept.
        var size: Int?
        var isCompressed: Bool?

        enum CodingKeys: String, CodingKey {
            case type, time, opcode, data
            case encoding = "_encoding"
            case size = "_size"
            case isCompressed = "_isCompressed"
        }
    }
}

/// What is read of an HTTP Archive: as little as can be used, and most of it may be missing.
struct HARDocument: Decodable {
    var log: Log

    struct Log: Decodable {
        var entries: [Lossy<Entry>]
    }

    /// A value, or `nil` where what is there isn't one: an entry that can't be read doesn't hide the others.
    struct Lossy<Value: Decodable>: Decodable {
        var value: Value?

        init(from decoder: any Decoder) throws {
            value = try? Value(from: decoder)
        }
    }

    struct Entry: Decodable {
        var startedDateTime: String?
        var time: Number?
        var request: Request
        var response: Response?
        var timings: Timings?
        var serverIPAddress: String?
        var connection: String?
        var resourceType: String?
        var messages: [Lossy<Message>]?
        var closeCode: Number?
        var closeReason: String?
        var isOpen: Bool?
        var route: String?
        var error: String?

        enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, timings, serverIPAddress, connection
            case resourceType = "_resourceType"
            case messages = "_webSocketMessages"
            case closeCode = "_closeCode"
            case closeReason = "_closeReason"
            case isOpen = "_isOpen"
            case route = "_route"
            case error = "_error"
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            request = try values.decode(Request.self, forKey: .request)
            startedDateTime = try? values.decode(String.self, forKey: .startedDateTime)
            time = try? values.decode(Number.self, forKey: .time)
            response = try? values.decode(Response.self, forKey: .response)
            timings = try? values.decode(Timings.self, forKey: .timings)
            serverIPAddress = try? values.decode(String.self, forKey: .serverIPAddress)
            connection = try? values.decode(String.self, forKey: .connection)
            resourceType = try? values.decode(String.self, forKey: .resourceType)
            messages = try? values.decode([Lossy<Message>].self, forKey: .messages)
            closeCode = try? values.decode(Number.self, forKey: .closeCode)
            closeReason = try? values.decode(String.self, forKey: .closeReason)
            isOpen = try? values.decode(Bool.self, forKey: .isOpen)
            route = try? values.decode(String.self, forKey: .route)
            error = try? values.decode(String.self, forKey: .error)
        }
    }

    /// A number, which some write as a text.
    struct Number: Decodable {
        var value: Double

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                value = number
            } else {
                guard let number = Double(try container.decode(String.self)), number.isFinite else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
                }
                value = number
            }
        }
    }

    struct Pair: Decodable {
        var name: String
        var value: String
    }

    struct Request: Decodable {
        var method: String
        var url: String
        var httpVersion: String?
        var headers: [Lossy<Pair>]?
        var postData: Body?
    }

    struct Response: Decodable {
        var status: Number?
        var statusText: String?
        var headers: [Lossy<Pair>]?
        var content: Body?
    }

    struct Body: Decodable {
        var size: Number?
        var mimeType: String?
        var text: String?
        var encoding: String?
        var ownEncoding: String?
        /// Of a form, where its text isn't there.
        var params: [Lossy<Parameter>]?

        enum CodingKeys: String, CodingKey {
            case size, mimeType, text, encoding, params
            case ownEncoding = "_encoding"
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            size = try? values.decode(Number.self, forKey: .size)
            mimeType = try? values.decode(String.self, forKey: .mimeType)
            text = try? values.decode(String.self, forKey: .text)
            encoding = try? values.decode(String.self, forKey: .encoding)
            ownEncoding = try? values.decode(String.self, forKey: .ownEncoding)
            params = try? values.decode([Lossy<Parameter>].self, forKey: .params)
        }
    }

    struct Parameter: Decodable {
        var name: String
        var value: String?
    }

    struct Timings: Decodable {
        var send: Number?
        var wait: Number?
        var receive: Number?
    }

    struct Message: Decodable {
        var type: String
        var time: Number?
        var opcode: Number?
        var data: String
        var encoding: String?
        var size: Number?
        var isCompressed: Bool?
        /// Whether it says what went wrong, in words, and isn't a message; Chromium gives it the opcode -1.
        var isError: Bool { type == "error" }

        enum CodingKeys: String, CodingKey {
            case type, time, opcode, data
            case encoding = "_encoding"
            case size = "_size"
            case isCompressed = "_isCompressed"
        }
    }
}

/// Times as HAR has them (ISO 8601).
enum HARTime {
    /// Seconds since 1970 in UTC, to the microsecond.
    static func text(_ seconds: Double) -> String {
        let bounded = min(max(seconds.isFinite ? seconds : 0, 0), 253_402_300_799)
        let micros = Int64((bounded * 1_000_000).rounded())
        let fraction = String(micros % 1_000_000)
        let padding = String(repeating: "0", count: 6 - fraction.utf8.count)
        return UnixTime(seconds: micros / 1_000_000).internetText.dropLast() + ".\(padding)\(fraction)Z"
    }

    /// The time of a text.
    ///
    /// - Parameter text: such as `2026-11-23T17:30:00.123+01:00`; a zone that isn't named is UTC.
    /// - Returns: seconds since 1970; `nil` for what isn't a time.
    static func seconds(_ text: String) -> Double? {
        var rest = Substring(text)
        guard let year = number(&rest, 4), skip(&rest, "-"), let month = number(&rest, 2), skip(&rest, "-"),
            let day = number(&rest, 2), skip(&rest, "T") || skip(&rest, " "), let hour = number(&rest, 2),
            skip(&rest, ":"), let minute = number(&rest, 2), (1...12).contains(month), (0...24).contains(hour),
            (0...59).contains(minute), day >= 1, day <= CivilDate.days(inMonth: month, of: year)
        else { return nil }
        var second = 0.0
        if skip(&rest, ":") {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." || $0 == "," }
            guard let value = Double(digits.replacing(",", with: ".")), value < 61 else { return nil }
            second = value
            rest = rest[digits.endIndex...]
        }
        guard let zone = zone(&rest), rest.isEmpty else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        return Double(days * 86_400 + hour * 3_600 + minute * 60 - zone) + second
    }

    /// Seconds east of UTC.
    private static func zone(_ rest: inout Substring) -> Int64? {
        if rest.isEmpty || skip(&rest, "Z") || skip(&rest, "z") { return 0 }
        let sign: Int64 = skip(&rest, "-") ? -1 : 1
        if sign > 0, !skip(&rest, "+") { return nil }
        guard let hours = number(&rest, 2) else { return nil }
        _ = skip(&rest, ":")
        let minutes = rest.isEmpty ? 0 : number(&rest, 2)
        return minutes.map { sign * (hours * 3_600 + $0 * 60) }
    }

    private static func skip(_ rest: inout Substring, _ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    private static func number(_ rest: inout Substring, _ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        rest = rest.dropFirst(count)
        return Int64(digits)
    }
}
