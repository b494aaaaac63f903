// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// What a request wants to be true of the content before it is done (RFC 9110 section 13).
public struct Preconditions: Sendable, Hashable {
    /// The result of checking them.
    public enum Verdict: Sendable, Hashable {
        /// The request is to be done.
        case proceed
        /// The client has the content already: 304, without it.
        case notModified
        /// The content isn't what the client takes it for: 412, and nothing is done.
        case failed
    }

    /// The content as it is now.
    public struct Validators: Sendable, Hashable {
        /// Its tag; nil where it has none.
        package var tag: EntityTag?
        /// When it was last modified, in whole seconds; nil where that isn't known.
        package var modified: UnixTime?
        /// Whether there is any content: a PUT may be about to make it.
        package var exists: Bool

        /// Makes validators.
        public init(tag: EntityTag? = nil, modified: UnixTime? = nil, exists: Bool = true) {
            self.tag = tag
            self.modified = modified
            self.exists = exists
        }
    }

    private enum Tags: Sendable, Hashable {
        case absent, malformed
        case list(EntityTagList)

        init(_ values: [String]) {
            self = values.isEmpty ? .absent : EntityTagList(values).map(Tags.list) ?? .malformed
        }
    }

    private let match: Tags
    private let noneMatch: Tags
    private let modifiedSince: UnixTime?
    private let unmodifiedSince: UnixTime?
    private let isRetrieval: Bool

    /// Reads the fields of a request.
    ///
    /// - Parameters:
    ///   - method: The method: a date that hasn't changed answers GET and HEAD only.
    ///   - headers: The fields.
    ///   - now: The time, for dates with a year of two digits.
    package init(_ method: HTTPRequest.Method, _ headers: HTTPFields, now: UnixTime) {
        match = Tags(headers[values: .ifMatch])
        noneMatch = Tags(headers[values: .ifNoneMatch])
        modifiedSince = Self.date(headers[values: .ifModifiedSince], now)
        unmodifiedSince = Self.date(headers[values: .ifUnmodifiedSince], now)
        isRetrieval = method == .get || method == .head
    }

    private static func date(_ values: [String], _ now: UnixTime) -> UnixTime? {
        values.count == 1 ? HTTPDate.parse(values[0], now: now) : nil
    }

    /// Whether there are none.
    package var isEmpty: Bool {
        match == .absent && noneMatch == .absent && modifiedSince == nil && unmodifiedSince == nil
    }

    /// Decides in the order of RFC 9110 section 13.2.2.
    ///
    /// Tags that can't be read fail where they guard a change, and are passed over where they only save a transfer.
    public func verdict(_ content: Validators) -> Verdict {
        switch match {
        case .list(let list):
            if !Self.matches(list, content, isStrong: true) { return .failed }
        case .malformed: return .failed
        case .absent:
            if let unmodifiedSince, let modified = content.modified, modified > unmodifiedSince { return .failed }
        }
        switch noneMatch {
        case .list(let list):
            if Self.matches(list, content, isStrong: false) { return isRetrieval ? .notModified : .failed }
        case .malformed:
            if !isRetrieval { return .failed }
        case .absent:
            if isRetrieval, let modifiedSince, let modified = content.modified, modified <= modifiedSince {
                return .notModified
            }
        }
        return .proceed
    }

    private static func matches(_ list: EntityTagList, _ content: Validators, isStrong: Bool) -> Bool {
        switch list {
        case .any: return content.exists
        case .tags(let tags):
            guard let own = content.tag, content.exists else { return false }
            return tags.contains { isStrong ? $0.stronglyMatches(own) : $0.weaklyMatches(own) }
        }
    }

    /// Whether a part of the content may be sent, as `Range` asks: the client's other parts are of the same content
    /// (`If-Range`, RFC 9110 section 13.1.5).
    ///
    /// A date must be the very one, and a weak tag never does. Without the field it may.
    public static func allowsRange(_ headers: HTTPFields, _ content: Validators, now: UnixTime) -> Bool {
        let values = headers[values: .ifRange]
        guard let value = values.first else { return true }
        if values.count > 1 { return false }
        if let tag = EntityTag(field: value) { return content.tag.map(tag.stronglyMatches) ?? false }
        guard let date = HTTPDate.parse(value, now: now) else { return false }
        // Of a content that has changed within this second there may be two (RFC 9110 section 8.8.2.2).
        return content.modified == date && date < now
    }
}
