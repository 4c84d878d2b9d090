// The selective scan on a CPU: scan_ops.py calls this, selective_scan.py has the formulas.
//
// One pass over the sequence for each batch entry and block of channels, all in cache. Steps
// are taken in chunks of CHUNK: the forward pass keeps the state at the start of each chunk only,
// the backward pass recomputes the states of a chunk from it. Plain C++17 with the vector types of
// GCC and Clang; no header of Torch.
//
// Layouts (row-major): u, delta, y (batch, length, channels); A (states, channels), already times
// log2(e); B, C (batch, length, states); chunk_states (batch, chunks, states, channels); initial,
// last (batch, states, channels). `channels` is a multiple of 64 bytes.

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int64_t CHUNK = 16;

// The bytes of a register; what is wider GCC takes apart badly. On every machine 64 bytes of channels
// are whole vectors, which is what the caller pads to.
#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif

template <typename T> struct Lanes;
template <> struct Lanes<float> {
  static constexpr int64_t W = BYTES / 4;
  typedef float Vec __attribute__((vector_size(BYTES)));
  typedef int32_t Int __attribute__((vector_size(BYTES)));
  static constexpr int MANTISSA = 23, TERMS = 7;
  static constexpr float SHIFTER = 12582912.f;            // 1.5 * 2^23: adding it rounds to integers
  static constexpr float LOWEST = -125.f, HIGHEST = 128.f;  // 2^x is normal between
};
template <> struct Lanes<double> {
  static constexpr int64_t W = BYTES / 8;
  typedef double Vec __attribute__((vector_size(BYTES)));
  typedef int64_t Int __attribute__((vector_size(BYTES)));
  static constexpr int MANTISSA = 52, TERMS = 13;
  static constexpr double SHIFTER = 6755399441055744.;  // 1.5 * 2^52
  static constexpr double LOWEST = -1021., HIGHEST = 1024.;
};

template <typename T> using Vec = typename Lanes<T>::Vec;

template <typename T> inline Vec<T> load(const T *p) {
  Vec<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <typename T> inline void store(T *p, Vec<T> v) { std::memcpy(p, &v, sizeof v); }

template <typename T> inline T sum(Vec<T> v) {
  T total = 0;
  for (int64_t i = 0; i < Lanes<T>::W; ++i) total += v[i];
  return total;
}

// 2^x = 2^k 2^r with |r| <= 1/2; Taylor's series of 2^r; 0 below the normal numbers, infinity above.
template <typename T> inline Vec<T> exp2(Vec<T> x) {
  using L = Lanes<T>;
  typedef typename L::Int Int;
  Vec<T> shifted = x + L::SHIFTER;
  Vec<T> r = x - (shifted - L::SHIFTER);
  double c[L::TERMS + 1];
  c[0] = 1;
  for (int k = 1; k <= L::TERMS; ++k) c[k] = c[k - 1] * 0.693147180559945309417 / k;
  Vec<T> p = r * T(0) + T(c[L::TERMS]);
  for (int k = L::TERMS - 1; k >= 0; --k) p = p * r + T(c[k]);
  Int bits, power;
  std::memcpy(&bits, &shifted, sizeof bits);
  std::memcpy(&power, &p, sizeof power);
  power += bits << L::MANTISSA;
  std::memcpy(&p, &power, sizeof p);
  Vec<T> zero = {}, infinity = zero + T(__builtin_inf());
  p = x < L::LOWEST ? zero : p;
  return x >= L::HIGHEST ? infinity : p;
}

template <typename T>
void forward(const T *u, const T *delta, const T *A, const T *B, const T *C, const T *skip,
             const T *initial, T *y, T *chunk_states, T *last, int64_t batch, int64_t length,
             int64_t channels, int64_t states, int threads) {
  constexpr int64_t W = Lanes<T>::W;
  const int64_t blocks = channels / W, chunks = (length + CHUNK - 1) / CHUNK;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int64_t job = 0; job < batch * blocks; ++job) {
    const int64_t b = job / blocks, d = job % blocks * W;
    Vec<T> dt[CHUNK], in[CHUNK], out[CHUNK];
    T *h_last = last + b * states * channels + d;
    for (int64_t n = 0; n < states; ++n)
      store(h_last + n * channels, load(initial + (b * states + n) * channels + d));
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t start = chunk * CHUNK;
      const int64_t steps = length - start < CHUNK ? length - start : CHUNK;
      const int64_t at = (b * length + start) * channels + d, at_n = (b * length + start) * states;
      T *kept = chunk_states + (b * chunks + chunk) * states * channels + d;
      const Vec<T> D = load(skip + d);
      for (int64_t t = 0; t < steps; ++t) {
        const Vec<T> x = load(u + at + t * channels);
        dt[t] = load(delta + at + t * channels);
        in[t] = dt[t] * x;
        out[t] = D * x;
      }
      for (int64_t n = 0; n < states; ++n) {
        const Vec<T> a_n = load(A + n * channels + d);
        Vec<T> h = load(h_last + n * channels);
        store(kept + n * channels, h);
        for (int64_t t = 0; t < steps; ++t) {
          h = exp2<T>(dt[t] * a_n) * h + in[t] * B[at_n + t * states + n];
          out[t] += h * C[at_n + t * states + n];
        }
        store(h_last + n * channels, h);
      }
      for (int64_t t = 0; t < steps; ++t) store(y + at + t * channels, out[t]);
    }
  }
}

// With g_t the gradient of h_t: g_t = C_t dy_t + a_{t+1} g_{t+1}, dC_t = Σ_d dy_t h_t,
// dB_t = Σ_d g_t Δ_t u_t, du_t = Δ_t Σ_n g_t B_t + D dy_t, q_t = g_t a_t h_{t-1},
// dΔ_t = u_t Σ_n g_t B_t + Σ_n q_t A, dA = Σ_t q_t Δ_t.
//
// dA (batch, states, channels); dB, dC (batch, groups, length, states); d_initial comes in as the
// gradient of the last state. A_e is A without log2(e). A group is a range of blocks and a job of
// its own; each sum has one order, whatever the number of threads.
template <typename T>
void backward(const T *dy, const T *u, const T *delta, const T *A, const T *A_e, const T *B,
              const T *C, const T *skip, const T *chunk_states, T *du, T *d_delta, T *dA, T *dB,
              T *dC, T *d_initial, int64_t batch, int64_t length, int64_t channels, int64_t states,
              int64_t groups, int threads) {
  constexpr int64_t W = Lanes<T>::W;
  const int64_t blocks = channels / W, chunks = (length + CHUNK - 1) / CHUNK;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int64_t job = 0; job < batch * groups; ++job) {
    const int64_t b = job / groups, group = job % groups;
    const int64_t first = blocks * group / groups, end = blocks * (group + 1) / groups;
    std::vector<Vec<T>> sums(2 * CHUNK * states);
    Vec<T> *sum_B = sums.data(), *sum_C = sum_B + CHUNK * states;
    Vec<T> dt[CHUNK], in[CHUNK], dout[CHUNK], decay[CHUNK], before[CHUNK], gB[CHUNK], gA[CHUNK];
    for (int64_t chunk = chunks - 1; chunk >= 0; --chunk) {
      const int64_t start = chunk * CHUNK;
      const int64_t steps = length - start < CHUNK ? length - start : CHUNK;
      const int64_t at_n = (b * length + start) * states;
      const Vec<T> zero = {};
      for (auto &s : sums) s = zero;
      for (int64_t block = first; block < end; ++block) {
        const int64_t d = block * W, at = (b * length + start) * channels + d;
        const T *kept = chunk_states + (b * chunks + chunk) * states * channels + d;
        for (int64_t t = 0; t < steps; ++t) {
          dt[t] = load(delta + at + t * channels);
          in[t] = dt[t] * load(u + at + t * channels);
          dout[t] = load(dy + at + t * channels);
          gB[t] = gA[t] = zero;
        }
        for (int64_t n = 0; n < states; ++n) {
          const Vec<T> a_n = load(A + n * channels + d), a_e = load(A_e + n * channels + d);
          Vec<T> h = load(kept + n * channels);
          for (int64_t t = 0; t < steps; ++t) {
            decay[t] = exp2<T>(dt[t] * a_n);
            before[t] = h;
            h = decay[t] * h + in[t] * B[at_n + t * states + n];
            sum_C[n * CHUNK + t] += h * dout[t];
          }
          T *g_at = d_initial + (b * states + n) * channels + d;
          T *dA_at = dA + (b * states + n) * channels + d;
          Vec<T> g = load(g_at), dA_n = chunk == chunks - 1 ? zero : load(dA_at);
          for (int64_t t = steps - 1; t >= 0; --t) {
            g += dout[t] * C[at_n + t * states + n];
            sum_B[n * CHUNK + t] += g * in[t];
            gB[t] += g * B[at_n + t * states + n];
            g *= decay[t];
            const Vec<T> q = g * before[t];
            gA[t] += q * a_e;
            dA_n += q * dt[t];
          }
          store(g_at, g);
          store(dA_at, dA_n);
        }
        const Vec<T> D = load(skip + d);
        for (int64_t t = 0; t < steps; ++t) {
          const Vec<T> x = load(u + at + t * channels);
          store(du + at + t * channels, dt[t] * gB[t] + D * dout[t]);
          store(d_delta + at + t * channels, x * gB[t] + gA[t]);
        }
      }
      for (int64_t t = 0; t < steps; ++t)
        for (int64_t n = 0; n < states; ++n) {
          const int64_t to = ((b * groups + group) * length + start + t) * states + n;
          dB[to] = sum<T>(sum_B[n * CHUNK + t]);
          dC[to] = sum<T>(sum_C[n * CHUNK + t]);
        }
    }
  }
}

} // namespace

#define SCAN(NAME, T)                                                                             \
  extern "C" void forward_##NAME(                                                                 \
      const T *u, const T *delta, const T *A, const T *B, const T *C, const T *skip,              \
      const T *initial, T *y, T *kept, T *last, int64_t batch, int64_t length, int64_t channels,  \
      int64_t states, int threads) {                                                              \
    forward<T>(u, delta, A, B, C, skip, initial, y, kept, last, batch, length, channels, states,  \
               threads);                                                                          \
  }                                                                                               \
  extern "C" void backward_##NAME(                                                                \
      const T *dy, const T *u, const T *delta, const T *A, const T *A_e, const T *B, const T *C,  \
      const T *skip, const T *kept, T *du, T *d_delta, T *dA, T *dB, T *dC, T *d_initial,         \
      int64_t batch, int64_t length, int64_t channels, int64_t states, int64_t groups,            \
      int threads) {                                                                              \
    backward<T>(dy, u, delta, A, A_e, B, C, skip, kept, du, d_delta, dA, dB, dC, d_initial,       \
                batch, length, channels, states, groups, threads);                                \
  }

SCAN(float, float)
SCAN(double, double)
