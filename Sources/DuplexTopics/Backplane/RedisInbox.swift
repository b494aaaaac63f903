// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Synchronization

/// A message that a node publishes.
struct RedisPublication: Sendable {
    typealias Completion = @Sendable (Result<TopicPosition?, TopicError>) -> Void

    let topic: String
    let origin: String
    let number: UInt64
    /// As ``TopicFrame/flags(of:)`` has it.
    let flags: UInt8
    /// As ``TopicFrame/tail`` has it.
    let tail: [UInt8]
    let history: TopicOptions.History?
    let completion: Completion

    init(_ message: BackplaneMessage, keeping history: TopicOptions.History?, _ completion: @escaping Completion) {
        topic = message.topic
        origin = message.origin
        number = message.number
        flags = TopicFrame.flags(of: message.message.kind)
        tail = TopicFrame(message.message, from: message.origin, number: message.number).tail
        self.history = history
        self.completion = completion
    }

    /// About how many bytes the command has.
    var size: Int { tail.count + 3 * topic.utf8.count + 512 }

    /// The whole frame, of a message that isn't kept.
    var frame: [UInt8] { [1, flags] + tail }
}

/// What a node wants of its backplane.
enum RedisOperation: Sendable {
    typealias Completion<Value> = @Sendable (Result<Value, TopicError>) -> Void

    case publish(RedisPublication)
    case subscribe(String)
    case unsubscribe(String)
    case history(topic: String, behind: UInt64, Completion<BackplaneHistory>)
    case enter(PresenceMember, topic: String)
    case leave(id: String, topic: String)
    case watch(topic: String, Bool)
    case members(topic: String, limit: Int, Completion<[PresenceMember]>)
    case memberCount(topic: String, Completion<Int>)

    /// Says that it won't be done.
    func fail(_ error: TopicError) {
        switch self {
        case .publish(let publication): publication.completion(.failure(error))
        case .history(_, _, let completion): completion(.failure(error))
        case .members(_, _, let completion): completion(.failure(error))
        case .memberCount(_, let completion): completion(.failure(error))
        case .subscribe, .unsubscribe, .enter, .leave, .watch: break
        }
    }
}

/// What any thread wants of a backplane, in order: the loop takes all of it once it is its turn.
///
/// Messages count until they are published, so that there is a bound to all that is on its way.
final class RedisInbox: Sendable {
    private struct State {
        var operations: [RedisOperation] = []
        var isAsked = false
        var isOver = false
        var count = 0
        var size = 0
    }

    /// The result of an operation.
    enum Verdict: Hashable {
        /// It will be taken.
        case added
        /// So it will; the loop is to be asked.
        case asks
        /// There is no room.
        case full
        /// The backplane has ended.
        case over
    }

    private let mostMessages: Int
    private let mostBytes: Int
    private let state = Mutex(State())

    init(mostMessages: Int, mostBytes: Int) {
        self.mostMessages = mostMessages
        self.mostBytes = mostBytes
    }

    /// Puts an operation behind the others.
    func add(_ operation: RedisOperation) -> Verdict {
        state.withLock { state in
            if state.isOver { return .over }
            if case .publish(let publication) = operation {
                let size = publication.size
                // One message goes alone, however long.
                guard state.count < mostMessages, state.count == 0 || size <= mostBytes - state.size else {
                    return .full
                }
                state.count += 1
                state.size += size
            }
            state.operations.append(operation)
            defer { state.isAsked = true }
            return state.isAsked ? .added : .asks
        }
    }

    /// Takes all that there is.
    func take() -> [RedisOperation] {
        state.withLock { state in
            state.isAsked = false
            defer { state.operations = [] }
            return state.operations
        }
    }

    /// A message is published, or won't be.
    func release(_ publication: RedisPublication) {
        state.withLock { state in
            state.count -= 1
            state.size -= publication.size
        }
    }

    /// Takes nothing more.
    ///
    /// - Returns: whether it did until now.
    func end() -> Bool {
        state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
    }
}
