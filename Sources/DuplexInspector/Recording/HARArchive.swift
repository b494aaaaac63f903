// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
