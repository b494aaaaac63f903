// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension SystemCalls {
    /// What lies in front of a receive.
    enum PeekResult: Equatable {
        /// One byte at least.
        case bytes([UInt8])
        case none
        case ended
        case failed(Int32)
    }

    /// Looks at up to `count` bytes that have arrived, and leaves them.
    static func peek(_ descriptor: Int32, upTo count: Int) -> PeekResult {
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            let arrived = unsafe bytes.withUnsafeMutableBytes { room in
                SystemCall.receive.move(count, on: descriptor) {
                    unsafe recv(descriptor, room.baseAddress, $0, Int32(MSG_PEEK))
                }
            }
            if arrived > 0 { return .bytes(Array(bytes.prefix(arrived))) }
            if arrived == 0 { return .ended }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .none
            case let code: return .failed(code)
            }
        }
    }

    /// Takes bytes that have been looked at, and forgets them.
    ///
    /// - Returns: whether they could be taken, all of them.
    static func discard(_ descriptor: Int32, _ count: Int) -> Bool {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe bytes.withUnsafeMutableBytes { unsafe receive(descriptor, into: $0) }
        return result == .transferred(count)
    }
}
