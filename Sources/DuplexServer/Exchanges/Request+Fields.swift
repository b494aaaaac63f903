// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

// What the fields of a request say, read when it is asked for.

extension Request {
    /// The names and values of the query, decoded and in their order; empty where there is none.
    ///
    /// - Throws: `HTTPError` with 400 if the query can't be decoded, or has more than 1,000 items.
    public var queryItems: QueryItems {
        get throws(HTTPError) {
            guard let items = QueryItems(query) else {
                throw HTTPError(.badTarget, "the query isn't made of names and values that can be decoded")
            }
            return items
        }
    }

    /// The cookies that came with it.
    public var cookies: RequestCookies { RequestCookies(fields) }

    /// The media type of the body; `nil` where none is named.
    public var contentType: MediaType? { fields[.contentType].map(MediaType.init(rawValue:)) }

    /// Which media types the client wants.
    public var accepted: MediaPreferences { MediaPreferences(fields) }

    /// Which languages the client wants.
    public var acceptedLanguages: LanguagePreferences { LanguagePreferences(fields) }

    /// Which codings of the content the client takes.
    public var acceptedCodings: CodingPreferences { CodingPreferences(fields) }

    /// What must be true of the content before the request is done (RFC 9110 section 13).
    ///
    /// GET and HEAD are answered by themselves where the response names a validator, `ETag` or `Last-Modified`; a handler
    /// that changes something asks here before it does.
    public var preconditions: Preconditions { Preconditions(method, fields, now: .now) }

    /// The parts of the content that the client asks for; `nil` where it asks for all.
    public var ranges: ByteRanges? { ByteRanges(fields) }
}
