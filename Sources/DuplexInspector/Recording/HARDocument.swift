// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

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
