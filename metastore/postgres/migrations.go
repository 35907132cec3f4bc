package postgres

import (
	"encoding/hex"
	"fmt"
)

// migration is one step of the peer's schema history, as its bookkeeping table _sqlx_migrations records it.
type migration struct {
	version     int64
	description string
	checksum    string // SHA-384 of the peer's file, in hexadecimal
}

const (
	// lastRequired is the version that a database must have reached. The peer applies what follows
	// in the background, after it has begun to serve.
	lastRequired = 28
	lastKnown    = 29
)

// history lists what a database of the peer's release has been through, in order.
func history() []migration {
	return []migration{
		{1, "create-indexes", "9da649256733741d24145ce215f056eb1175103f47a59638de5bb83ec4fb0efc236c6bd622effc3bf41495bf46830e6c"},
		{2, "create-splits", "7f31a9780204cf4cfda0787015e23fe13c4c26fe46a1779dcd69b9f61460013d41cb11088fa0ccc194df7ee4a066cb6b"},
		{3, "add-split-publish-timestamp-field", "b85a928438bf01da4dca385a14e59891931666643b812bbef2737306ac05c9e97668ad4ac5c99165a49f0f9d103eafa0"},
		{4, "create-delete tasks", "d4faccd091d85a9f43c88ba6d4c5c4d3b6096ed5140405753583a3d68db474f538f67ebd465c184384b11fd0429fdfd8"},
		{5, "add-delete-opstamp-splits", "c044b6adf4a1b4420288de417ca7425af52b7117231bfbec14b98df0c3850665883c5421915220a48423534519f4f451"},
		{6, "delete-update-index-update-timestamp-on-split-update-trigger", "7225113e4ba6a0b2b613933f86595dd790114071544e9d8f56dbca5a3e38fa969c11dbab0c7701d33d8ed36e420a4c4c"},
		{7, "delete-split-table-triggers", "2961cdf5bd166fb38e6c2b4638304cb216d973eb82477560e9df879666862a3d7d411bb2dd55a70503152e49c31b4fd6"},
		{8, "delete-update-timestamp-on-indexes-table", "90519a5836a96053917928b345038942864fc075b1cb2d38b299e0373192d478999948bb647a5964a7034ce9b8fa4d96"},
		{9, "add-split-incarnation-id", "bc3196cc285080e56e6ba67ab68686baf257792311e3b21fef2ea5dddc76de014c6db7cbe1fc01da4568e48177db0173"},
		{10, "add-split-incarnation-id", "c08072617dd39df8d22c9270242f88ea5912425975a3f618c3ba1b18fb7eae6c5038db90987ae5d28b3edd06dcdcdad0"},
		{11, "add-split-maturity-timestamp-field", "4f5121c732497f51c1e9b3f2216770c885b0c1d037b4a49ed18afbc1dfd17c06cd7c205aa75405c0405956fc7b5b968b"},
		{12, "create-shards", "3a80cf2af933bed96e0598ca24bda6f4ab7cb35b266179edca44b31c69b05b63ad63ce844e07742742227b8c71881329"},
		{13, "migrate-otel-indexes-v0 6", "c607fcc958a2c0c17d95703132c104345a324f447d123b89b373b99d6ed887bb84bc4af19bccd506260451eb67ee4a10"},
		{14, "update-shard-id", "721d90c6c0c057f0a84f6ab315ffcaa74c6c2e3d1162e3a6fae016f54c019a17577dee236e07ec58de05631cc5e9cbc9"},
		{15, "create-templates", "21875f89ffba206883616595e30a090f2c8304581f41fcd88fa6f2d9c0d435e2d4839274dbda088670c2ed3544e885ff"},
		{16, "create-index-split-uid", "d6a5dd457f09ce74d24ec632fa455e60053addbdc32e35fcfc6a42c643bfb0fa23c12e8bc56f6de927bed75e28134d55"},
		{17, "create-index-split-timestamp", "305392278f2c3d1f8e766f86481e6816500827a6430073f4e699d8d31e3ee9a9c3ddb77ffb0b4ff79ea12be061b394b0"},
		{18, "create-index-shard-index-uid", "71deb29d3c16f951ae6d5c90fe58e6b502408b1eb421bf1bc57029653cbbed8ea46fa31386b342f35e67e056dacd086e"},
		{19, "add-split-node-id-field", "3018488930885cb92abce191d538b692e21a3277d940616ec5aaac3d4eb44db275f92af1e5e5f2e7ebd16a5f9eeac42a"},
		{20, "add-shard-doc-mapping-uid-field", "b106c6c0929c58c43b4311f3d37870bf2e63cd49d9834ced61c88e955097c6968adc30de1f1cdc6258b95ef0c077cd99"},
		{21, "add-shard-update-timestamp-field", "3c4eb8f4c6d65b38202bab38901199ca54eb44ee0fb14183a4100f88d5f3156dd5408b4efd4e0e8988f17a8654b6ab85"},
		{22, "change-splits-pkey", "45f64f9c797d50845b914d7e7736281481ce493a3615a3d4b8286b30aacc99b3d018db4278de3ac26ca86012da9670b2"},
		{23, "change-indexes-unique-index", "34d758a2257acae594fc78e2cca30e0cb06e36f1b3ddc1da1dcf47336a2757c91538363f31ece55c1009bcf3c36e733b"},
		{24, "add-arbitrary-kv", "6a7a24d5eed4ece158f4c1ef8066d473968ff2e26112b0ce802032b4dd0b58a53a4954bf01241a7371bd73253e2ac132"},
		{25, "add-split-size", "a5d0747841330b3172737015b91bbbc6add56194e2e7ccc22061a294d01aeee758d8d9a6529163a3f54d9014c98ab7cc"},
		{26, "create-metrics-splits", "e1ef709e881577cb01a17485f3c8e708793e809ab78c7d6d43de71adc80bd77f118981476187f1db72c51a2f95e691d8"},
		{27, "add-compaction-metadata", "bb0338c6f7472538e8cf8fd453e1c7ffb0f53b94079f85035dd295060c6476dae1e8e5cee6110923f4d1d35f2f5eed1f"},
		{28, "create-sketch-splits", "2b7a73ff9bf8d9445ea640c9efe4cdccd53dc9d271331ed29be87618f6607f7c6785e013bf0bb69ff389add266b560ca"},
		{29, "create-index-splits-maturity-timestamp", "3c7675eb4e1fa41c90243a3c72b37f5f3f815d54a1c36693e8b27f0b028bf8c301324e1d5636145ed0cee3d7406fe255"},
	}
}

func (m *migration) checksumBytes() ([]byte, error) {
	sum, err := hex.DecodeString(m.checksum)
	if err != nil {
		return nil, fmt.Errorf("checksum of migration %d: %w", m.version, err)
	}
	return sum, nil
}
