// What jemalloc reads at its start; the environment (MALLOC_CONF) may still overrule it.
//
// A background thread gives unused pages back half a second after they were last needed, so that
// one big list does not stay on the books of an idle server. Two arenas: threads share more of
// what they freed than with one arena per four threads of each core.

extern "C" {
extern const char* malloc_conf;
const char* malloc_conf =
    "background_thread:true,dirty_decay_ms:500,muzzy_decay_ms:0,narenas:2,metadata_thp:disabled";
}
