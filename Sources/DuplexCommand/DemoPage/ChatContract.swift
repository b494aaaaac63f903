// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What the page and the chat room say to each other at ``DemoPage/chatPath``.
///
/// Every message is text, no larger than ``messageSize``; those of the room are JSON objects.
///
/// A client sends one kind, and one that isn't an object is taken as the text of a ``guest``, so that people can talk by
/// `duplex connect`:
///
///     {"name":"Ann","text":"hi"}
///
/// `name` has 1 to ``nameLimit`` and `text` 1 to ``textLimit`` UTF-16 code units, the unit in which a browser's
/// `maxlength` counts; neither is white space alone. Members that are not listed here are ignored. The room closes the
/// connection of a client that breaks these rules with 1008 (policy violation) and a reason that says which rule it
/// was. It answers a binary message with 1003 (unsupported data) and one that is too large with 1009 (message too big).
///
/// The room sends two kinds. To everybody in it, the sender too, for each message:
///
///     {"id":7,"name":"Ann","text":"hi","at":"2026-01-01T12:00:00Z","people":3}
///
/// `id` counts the room's messages from 1, without a gap; `name` and `text` are what the client sent, unchanged; `at`
/// is the time at which the room took the message, in UTC (RFC 3339, section 5.6); `people` is the number of open
/// connections. And when someone has joined or left, to everybody, a newcomer too and to that one before anything else:
///
///     {"people":3}
///
/// The room keeps no history. Everybody gets the messages in the order of their ids.
enum ChatContract {
    /// The name of those who say none.
    static let guest = "guest"

    /// The longest name, in UTF-16 code units.
    static let nameLimit = 32

    /// The longest text, in UTF-16 code units.
    static let textLimit = 500

    /// The largest message from a client, in bytes of JSON.
    ///
    /// Every unit of a name and a text may be escaped in six bytes, as `\u00e9`; that makes 3,192 and the braces.
    static let messageSize = 4096
}
