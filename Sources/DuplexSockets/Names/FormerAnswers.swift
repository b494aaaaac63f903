// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What was remembered of names before the network changed; of a bounded number of names.
///
/// The last resort: given where the name servers of the new network, if it is another one at all, give no answer.
struct FormerAnswers {
    private var entries: [String: CachingResolver.Entry] = [:]

    /// How many names there are.
    var count: Int { entries.count }

    /// Takes the answers with addresses that may still be given, in place of older ones.
    ///
    /// - Parameters:
    ///   - current: what is remembered.
    ///   - capacity: how many names are kept; beyond that, those go that were wanted least recently.
    ///   - now: the time.
    mutating func take(_ current: [String: CachingResolver.Entry], capacity: Int, _ now: Instant) {
        let known = current.filter { (try? $0.value.outcome.get()) != nil }
        entries = entries.merging(known) { $1 }.filter { now < $0.value.end }
        guard entries.count > max(0, capacity) else { return }
        let kept = entries.sorted { $0.value.lastUse > $1.value.lastUse }.prefix(max(0, capacity))
        entries = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }

    /// The answer of then, with no time left, while it may be given.
    func answer(to name: String, _ now: Instant) -> Resolution? {
        guard let entry = entries[name], now < entry.end, let resolution = try? entry.outcome.get() else { return nil }
        return Resolution(resolution.addresses, timeToLive: .zero)
    }

    /// What a look-up gave; the answer of then where it failed, but not where it says that the host is unknown.
    func mended(
        _ result: Result<Resolution, any Error>,
        of name: String,
        _ now: Instant
    ) -> Result<Resolution, any Error> {
        guard case .failure(let error) = result, (error as? SocketError)?.code != .unknownHost,
            !(error is CancellationError), let answer = answer(to: name, now)
        else { return result }
        return .success(answer)
    }

    subscript(name: String) -> CachingResolver.Entry? {
        get { entries[name] }
        set { entries[name] = newValue }
    }
}
