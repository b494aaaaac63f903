// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The order in which the addresses of a name are tried (RFC 8305 section 4).
package enum AddressOrder {
    /// The addresses with their families by turns, each once, the preferred family first.
    ///
    /// Within a family the order stays. The families alternate from the first address on: the "First Address Family Count"
    /// of RFC 8305 is 1.
    ///
    /// - Parameters:
    ///   - addresses: as the resolver gave them.
    ///   - preference: the family that comes first, if it is there.
    ///   - families: the families that may be used; the others are left out.
    ///   - proven: an address that goes first if it is among them and may be used (RFC 8305 section 5 lets history count).
    /// - Returns: the order, empty when nothing may be used.
    package static func arranged(
        _ addresses: [SocketAddress],
        preference: ConnectOptions.Preference,
        families: ConnectOptions.Families = .all,
        proven: SocketAddress? = nil
    ) -> [SocketAddress] {
        var seen: Set<SocketAddress> = []
        let usable = addresses.filter { families.allows($0) && seen.insert($0).inserted }
        let isIPv6First =
            switch preference {
            case .ipv6: true
            case .ipv4: false
            case .system: usable.first?.isIPv6 == true
            }
        let preferred = usable.filter { $0.isIPv6 == isIPv6First }
        let others = usable.filter { $0.isIPv6 != isIPv6First }
        var result: [SocketAddress] = []
        for index in 0..<max(preferred.count, others.count) {
            if index < preferred.count { result.append(preferred[index]) }
            if index < others.count { result.append(others[index]) }
        }
        if let proven, let position = result.firstIndex(of: proven) {
            result.remove(at: position)
            result.insert(proven, at: 0)
        }
        return result
    }
}
