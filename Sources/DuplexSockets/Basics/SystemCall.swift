// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The system calls that tests can have fail; see `FaultPlan`, which is there in debug builds only.
///
/// Each call of the kind goes through one of the functions below. In a release build these are nothing but the call
/// itself: they are inlined, the condition isn't compiled, and the plan's type doesn't exist. In a debug build each costs
/// one relaxed load of a global number while nobody has a plan.
///
/// Not among them are the calls whose failing says nothing, or can't happen to a program that is right: close(2), which
/// gives the descriptor back whatever it returns; eventfd_write(3), which fails only where the descriptor is readable
/// already; flock(2) that gives a lock back; and changing or ending the watch of a descriptor that is watched, for which
/// the kernel needs no memory.
package enum SystemCall: String, CaseIterable, Sendable {
    case socket, connect, accept, bind, listen, duplicate
    case receive, send, shutdown
    case setOption, getOption, localName, remoteName
    case makePoller, makeTimer, makeWakeup, watch, wait, clearWakeup
    case startThread, lookUp, random
    case openFolder, lockFolder, fileStatus, setPermissions, unlink
    case openFile, readFile, readCached, writeFile, renameFile, sendFile, makeFolder, syncFile
    case receiveDatagrams, sendDatagrams
    case openNetlink, askNetlink, receiveNetlink

    /// Makes a call that returns -1 where it fails, with the reason in `errno`.
    @inline(__always)
    func make<Result: SignedInteger>(on descriptor: Int32 = -1, _ call: () -> Result) -> Result {
        #if DEBUG
        if let plan = FaultPlan.current { return plan.make(self, on: descriptor, call) }
        #endif
        return call()
    }

    /// Makes a call that moves bytes or datagrams; `call` gets how many it may move at most.
    @inline(__always)
    func move(_ count: Int, on descriptor: Int32 = -1, _ call: (Int) -> Int) -> Int {
        #if DEBUG
        if let plan = FaultPlan.current { return plan.move(self, count, on: descriptor, call) }
        #endif
        return call(count)
    }

    /// Makes a call that returns 0, or else the number of its error.
    @inline(__always)
    func number(_ call: () -> Int32) -> Int32 {
        #if DEBUG
        if let plan = FaultPlan.current { return plan.number(self, call) }
        #endif
        return call()
    }
}
