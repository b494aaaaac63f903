// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Makes changes of what the kernel says: knows what there was, and asks again when something was lost.
///
/// Moves no bytes. What there is at the beginning is no change. When messages were lost, all is listed again, and what
/// differs is.
struct NetworkTracker {
    /// What is to be asked for.
    enum Request: Equatable {
        case links(UInt32)
        case addresses(UInt32)
    }

    /// What came of a message.
    struct Output: Equatable {
        var changes: [NetworkChange] = []
        var request: Request?
    }

    private struct Link {
        var name: String
        var isUp: Bool
        var addresses: [SocketAddress] = []
        /// Those that the first list had: the kernel may make one before that, and say so after it.
        var listed: Set<SocketAddress> = []
    }

    private enum Listing {
        case links
        case addresses
    }

    private var links: [UInt32: Link] = [:]
    private var sequence: UInt32 = 0
    /// What is being listed; `nil` when nothing is.
    private var listing: Listing?
    /// Whether the list is the first one, which is no change.
    private var isFirst = true
    /// Whether messages were lost while it was listed.
    private var mustListAgain = false
    private var isInterrupted = false
    private var seenLinks: Set<UInt32> = []
    private var seenAddresses: [UInt32: Set<SocketAddress>] = [:]
    /// What was said of addresses of interfaces whose names are still to be listed, and how many are kept.
    private var early: [NetlinkMessage] = []
    private static let earlyBound = 256

    /// Begins to list what there is.
    mutating func begin() -> Request {
        listing = .links
        sequence &+= 1
        // 0 is the mark of what nobody has asked for.
        if sequence == 0 { sequence = 1 }
        mustListAgain = false
        isInterrupted = false
        seenLinks = []
        seenAddresses = [:]
        return .links(sequence)
    }

    /// Takes note that messages were lost.
    ///
    /// - Returns: that something was missed, and what to ask for: the lists don't have routes, nor what went down and
    ///   is up again.
    mutating func overrun() -> Output {
        var output = Output(changes: [.missed])
        // The kernel makes one list at a time.
        if listing == nil { output.request = begin() } else { mustListAgain = true }
        return output
    }

    /// Takes note that what was to be asked for couldn't be: what is lost from here on has it asked for again.
    ///
    /// - Returns: what was said and waited for the list.
    mutating func notAsked() -> [NetworkChange] {
        listing = nil
        let changes = takeEarly()
        isFirst = false
        mustListAgain = false
        return changes
    }

    /// Takes a message.
    mutating func take(_ message: NetlinkMessage) -> Output {
        let isAnswer = message.sequence != 0
        if isAnswer && (listing == nil || message.sequence != sequence) { return Output() }
        if isAnswer && message.isInterrupted { isInterrupted = true }
        let tells = !(isAnswer && isFirst)
        if !isAnswer && isEarly(message.content) { return keep(message) }
        switch message.content {
        case .link(let index, let name, let isUp):
            if isAnswer { seenLinks.insert(index) }
            let changes = set(index, name, isUp)
            return Output(changes: tells ? changes : [])
        case .linkGone(let index): return Output(changes: remove(index))
        case .address(let index, let bytes, let isUsable, let isUnchanged):
            let address = address(bytes, index)
            if isAnswer && isUsable { seenAddresses[index, default: []].insert(address) }
            let changes = isUsable ? add(address, index, isNew: isUnchanged && !isAnswer) : remove(address, index)
            if tells { return Output(changes: changes) }
            if isUsable && !changes.isEmpty { links[index]?.listed.insert(address) }
            return Output()
        case .addressGone(let index, let bytes): return Output(changes: removeSaid(address(bytes, index), index))
        case .route: return Output(changes: [.routeChanged])
        case .overrun: return overrun()
        case .done: return isAnswer ? listed() : Output()
        case .failed: return isAnswer ? failed() : Output()
        }
    }

    /// The list was made long ago: what the kernel says of its addresses from now on is no late news.
    mutating func settle() {
        for index in links.keys { links[index]?.listed = [] }
    }

    // MARK: Lists

    private mutating func listed() -> Output {
        if mustListAgain { return Output(request: begin()) }
        switch listing {
        case .links:
            listing = .addresses
            sequence &+= 1
            return Output(changes: goneLinks() + takeEarly(), request: .addresses(sequence))
        case .addresses, nil:
            let changes = goneAddresses()
            listing = nil
            isFirst = false
            return Output(changes: changes)
        }
    }

    /// Without a list what the kernel says of its own accord still counts.
    private mutating func failed() -> Output {
        listing = nil
        let changes = takeEarly()
        isFirst = false
        return Output(changes: changes, request: mustListAgain ? begin() : nil)
    }

    // MARK: What comes before the list

    private func isEarly(_ content: NetlinkMessage.Content) -> Bool {
        guard listing == .links, let index = Self.interface(content) else { return false }
        // Also behind others that wait: in their order.
        return links[index] == nil || early.contains { Self.interface($0.content) == index }
    }

    /// The interface of the address in a message.
    private static func interface(_ content: NetlinkMessage.Content) -> UInt32? {
        switch content {
        case .address(let index, _, _, _), .addressGone(let index, _): index
        default: nil
        }
    }

    /// Keeps it until its interface is listed.
    private mutating func keep(_ message: NetlinkMessage) -> Output {
        if early.count >= Self.earlyBound { return overrun() }
        early.append(message)
        return Output()
    }

    private mutating func takeEarly() -> [NetworkChange] {
        let messages = early
        early = []
        // With the list of links at its end none of them is kept again.
        return messages.flatMap { take($0).changes }
    }

    private mutating func goneLinks() -> [NetworkChange] {
        if isFirst || isInterrupted { return [] }
        return links.keys.filter { !seenLinks.contains($0) }.sorted().flatMap { remove($0) }
    }

    private mutating func goneAddresses() -> [NetworkChange] {
        if isFirst || isInterrupted { return [] }
        var changes: [NetworkChange] = []
        for index in links.keys.sorted() {
            let known = links[index]?.addresses ?? []
            for address in known where seenAddresses[index]?.contains(address) != true {
                changes += remove(address, index)
            }
        }
        return changes
    }

    // MARK: Interfaces and addresses

    private func name(_ index: UInt32) -> String { links[index]?.name ?? "#\(index)" }

    /// The address; one that is valid on its link only has the link with it.
    private func address(_ bytes: [UInt8], _ index: UInt32) -> SocketAddress {
        let isLinkLocal = bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        return .ip(bytes, port: 0, scope: isLinkLocal ? index : 0)
    }

    private mutating func set(_ index: UInt32, _ name: String, _ isUp: Bool) -> [NetworkChange] {
        guard let known = links[index] else {
            links[index] = Link(name: name, isUp: isUp)
            return [isUp ? .interfaceUp(name) : .interfaceDown(name)]
        }
        links[index]?.name = name
        links[index]?.isUp = isUp
        if known.name == name {
            return known.isUp == isUp ? [] : [isUp ? .interfaceUp(name) : .interfaceDown(name)]
        }
        return (known.isUp ? [.interfaceDown(known.name)] : []) + (isUp ? [.interfaceUp(name)] : [])
    }

    private mutating func remove(_ index: UInt32) -> [NetworkChange] {
        guard let link = links.removeValue(forKey: index) else { return [] }
        let removed = link.addresses.map { NetworkChange.addressRemoved($0, interface: link.name) }
        return removed + (link.isUp ? [.interfaceDown(link.name)] : [])
    }

    private mutating func add(_ address: SocketAddress, _ index: UInt32, isNew: Bool) -> [NetworkChange] {
        let isKnown = links[index]?.addresses.contains(address) == true
        if isKnown && !(isNew && links[index]?.listed.remove(address) != nil) { return [] }
        if !isKnown { links[index]?.addresses.append(address) }
        return [.addressAdded(address, interface: name(index))]
    }

    /// The kernel has said that it is gone: so it was there, though the first list may not have come to it yet.
    private mutating func removeSaid(_ address: SocketAddress, _ index: UInt32) -> [NetworkChange] {
        let changes = remove(address, index)
        if !changes.isEmpty || !isFirst || links[index] == nil { return changes }
        return [.addressRemoved(address, interface: name(index))]
    }

    private mutating func remove(_ address: SocketAddress, _ index: UInt32) -> [NetworkChange] {
        guard let position = links[index]?.addresses.firstIndex(of: address) else { return [] }
        links[index]?.addresses.remove(at: position)
        links[index]?.listed.remove(address)
        return [.addressRemoved(address, interface: name(index))]
    }
}
